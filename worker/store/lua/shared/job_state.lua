-- The state of a job, and the events that tell clients about changes.
--
-- A job is in exactly one place: its tenant's queue (QUEUED), the leases (STARTING, RUNNING, PAUSING, STOPPING), or
-- neither (PAUSED and the three terminal states).

local TERMINAL = { SUCCEEDED = true, CANCELLED = true, FAILED = true }

local function has_tree(job)
    return (tonumber(job.incumbents) or 0) > 0 -- an archived job has no such field
end

-- Return whether a worker has, or is to have, a job in this state. Every such job is in WAITING or in LEASES;
-- `reconcile` looks for others.
local function is_active(state)
    return not TERMINAL[state] and state ~= 'PAUSED'
end

local function text_or_null(value)
    return value ~= '' and '"' .. value .. '"' or 'null'
end

local function publish_change(job)
    call('HINCRBY', job.key, 'revision', 1)
    call('PUBLISH', 'literati:changed', job.id)
end

local function add_event(job, kind, data)
    call('XADD', job.key .. ':events', 'MAXLEN', '~', MAX_EVENTS, '*', 'type', kind, 'data', data)
    call('HINCRBY', job.key, 'events', 1)
end

local function state_index(state, owner)
    return 'literati:tenant-state:' .. state .. ':' .. owner
end

-- If there are very many transitions, drop the oldest ones after the first.
local function add_transition(job, reason)
    local lines = (call('HGET', job.key, 'transitions') or '') .. job.state .. ' ' .. now .. ' ' .. reason .. '\n'
    while #lines > MAX_TRANSITIONS do
        local first = lines:find('\n', 1, true)
        local second = lines:find('\n', first + 1, true)
        lines = lines:sub(1, first) .. lines:sub(second + 1)
    end
    call('HSET', job.key, 'transitions', lines)
end

-- Return how many jobs and sweeps of a tenant have not ended. The jobs of a sweep are not counted.
local function live_jobs(tenant)
    local live = call('SCARD', 'literati:tenant-live-sweeps:' .. tenant)
    for _, state in ipairs({ 'QUEUED', 'STARTING', 'RUNNING', 'PAUSING', 'PAUSED', 'STOPPING' }) do
        live = live + call('ZCARD', state_index(state, tenant))
    end
    return live
end

local function set_state(job, state, reason)
    if job.state ~= '' then
        call('ZREM', state_index(job.state, owner_of(job)), job.id)
        call('HINCRBY', 'literati:states', job.state, -1)
    end
    put(job, 'state', state)
    call('ZADD', state_index(state, owner_of(job)), job.seq, job.id)
    call('HINCRBY', 'literati:states', state, 1)
    if is_active(state) then
        call('ZADD', ACTIVE, 'NX', now, job.id)
    else
        call('ZREM', ACTIVE, job.id)
    end
    add_transition(job, reason)
    add_event(job, 'state', '{"state":"' .. state .. '","stop_reason":' .. text_or_null(job.stop_reason)
        .. ',"reason":' .. text_or_null(reason) .. '}')
    publish_change(job)
end
