-- Stands before every script. A script runs alone on the server, on the server's clock, and either all or nothing
-- of it reaches the disk. A script that raises an error keeps what it wrote before, so each script reads and checks
-- everything that it needs before its first write.
--
-- A job is in exactly one of these: its group's queue (QUEUED), the leases (STARTING, RUNNING, PAUSING, STOPPING), neither
-- (PAUSED and the three ends). Numbers from workers are kept as the text they came as; only comparing reads them.

local call = redis.call
local TERMINAL = { SUCCEEDED = true, CANCELLED = true, FAILED = true }
local LEASES = 'literati:leases'
local ACTIVE = 'literati:active' -- jobs whose state is QUEUED or one with a lease, by the time they came there
local WAITING = 'literati:waiting' -- what is in any queue, by the time it came there
local TURNS, RESTED = 'literati:turns', 'literati:rested' -- groups by their turn: with queued jobs, and without
local VIRTUAL_TIME = 'literati:virtual-time' -- the turn of the group that started a job last
local RUNNING = 'literati:running' -- cores in use by group
local WEIGHTS, DEFAULT_WEIGHT = 'literati:weights', 100
local REFERENCES, GARBAGE = 'literati:blob-references', 'literati:garbage'
local TOTALS, SAVED, WORKERS = 'literati:totals', 'literati:saved-searches', 'literati:workers'
local ENDED, ENDED_SEARCHES = 'literati:ended', 'literati:ended-searches' -- jobs by the time of their end
local DATASETS_USED = 'literati:datasets-used' -- by the time of their last use
local MAX_TRANSITIONS = 20000 -- bytes; MAX_EVENTS, MAX_TRACE and MAX_INCUMBENTS stand before this

local clock = call('TIME')
local now = string.format('%.0f', clock[1] * 1000 + math.floor(clock[2] / 1000))

local FIELDS = {
    'tenant', 'dataset', 'seq', 'priority', 'state', 'wish', 'asked', 'epoch', 'ended_epoch', 'lease_until',
    'expansions', 'claim_expansions', 'stalls', 'objective', 'upper', 'lower', 'elapsed', 'states_live', 'memory',
    'incumbents', 'blob', 'stop_reason', 'idempotency', 'cores', 'kept_by', 'chosen', 'model_id',
    'revision', 'attempts', 'events', 'limits_revision',
}
local NUMBERS = { -- that every job has
    'seq', 'priority', 'epoch', 'stalls', 'expansions', 'claim_expansions', 'states_live', 'incumbents', 'elapsed',
    'memory', 'revision', 'attempts',
}
local NUMBERS_OR_EMPTY = { 'lease_until', 'objective', 'upper', 'lower', 'cores', 'events', 'limits_revision' }
local PARTS = { events = 'stream', trace = 'list', models = 'hash' } -- keys beside the record, and their types

local function job_key(id)
    return 'literati:job:' .. id
end

-- Return what is wrong with a job so that a script would fail on it; nil if nothing is.
local function damage(job)
    for _, name in ipairs(NUMBERS) do
        if not tonumber(job[name]) then
            return name .. ' is not a number'
        end
    end
    for _, name in ipairs(NUMBERS_OR_EMPTY) do
        if job[name] ~= '' and not tonumber(job[name]) then
            return name .. ' is not a number'
        end
    end
    for part, expected in pairs(PARTS) do
        local found = call('TYPE', job.key .. ':' .. part).ok
        if found ~= expected and found ~= 'none' then
            return part .. ' is a ' .. found .. ', not a ' .. expected
        end
    end
    local best = job.key .. ':incumbent:' .. job.incumbents
    if tonumber(job.incumbents) > 0 and (call('TYPE', best).ok ~= 'hash' or call('HEXISTS', best, 'tree') == 0) then
        return 'its best tree is not there'
    end
end

local function read_fields(id)
    local values = call('HMGET', job_key(id), unpack(FIELDS))
    if not values[1] then
        return nil
    end
    local job = { id = id, key = job_key(id) }
    for i, name in ipairs(FIELDS) do
        job[name] = values[i] or ''
    end
    return job
end

local fail_damaged -- below

-- Read the parts of a job that scripts decide by; nil if there is no such job. A job that is damaged is FAILED from
-- then on: the caller finds it without a lease and in a terminal state.
local function read(id)
    local job = read_fields(id)
    if job and not TERMINAL[job.state] then
        local wrong = damage(job)
        if wrong then
            fail_damaged(job, wrong)
            return read_fields(id)
        end
    end
    return job
end

local function read_of_tenant(id, tenant)
    local job = read(id)
    return job and job.tenant == tenant and job or nil
end

-- For Prometheus. Counted in the step that does it, so that no kill comes between the two, and kept here because
-- workers come and go on many machines.
local function count(name, by)
    call('HINCRBY', TOTALS, name, by or 1)
end

local function put(job, name, value)
    job[name] = value
    call('HSET', job.key, name, value)
end

local function has_tree(job)
    return tonumber(job.incumbents) > 0
end

-- Jobs that a worker has or is to have. Every one of them is in WAITING or in LEASES; `reconcile` looks for others.
local function is_active(state)
    return not TERMINAL[state] and state ~= 'PAUSED'
end

-- Visible changes

local function text_or_null(value)
    return value ~= '' and '"' .. value .. '"' or 'null'
end

local function changed(job)
    call('HINCRBY', job.key, 'revision', 1)
    call('PUBLISH', 'literati:changed', job.id)
end

local function emit(job, kind, data)
    call('XADD', job.key .. ':events', 'MAXLEN', '~', MAX_EVENTS, '*', 'type', kind, 'data', data)
    call('HINCRBY', job.key, 'events', 1)
end

local function state_index(state, tenant)
    return 'literati:tenant-state:' .. state .. ':' .. tenant
end

-- The oldest after the first go when there are very many (a client that pauses and resumes for days).
local function note_transition(job, reason)
    local lines = (call('HGET', job.key, 'transitions') or '') .. job.state .. ' ' .. now .. ' ' .. reason .. '\n'
    while #lines > MAX_TRANSITIONS do
        local first = lines:find('\n', 1, true)
        local second = lines:find('\n', first + 1, true)
        lines = lines:sub(1, first) .. lines:sub(second + 1)
    end
    call('HSET', job.key, 'transitions', lines)
end

-- How many jobs of a tenant have not ended.
local function live_jobs(tenant)
    local live = 0
    for _, state in ipairs({ 'QUEUED', 'STARTING', 'RUNNING', 'PAUSING', 'PAUSED', 'STOPPING' }) do
        live = live + call('ZCARD', state_index(state, tenant))
    end
    return live
end

local function set_state(job, state, reason)
    if job.state ~= '' then
        call('ZREM', state_index(job.state, job.tenant), job.id)
        call('HINCRBY', 'literati:states', job.state, -1)
    end
    put(job, 'state', state)
    call('ZADD', state_index(state, job.tenant), job.seq, job.id)
    call('HINCRBY', 'literati:states', state, 1)
    if is_active(state) then
        call('ZADD', ACTIVE, 'NX', now, job.id)
    else
        call('ZREM', ACTIVE, job.id)
    end
    note_transition(job, reason)
    emit(job, 'state', '{"state":"' .. state .. '","stop_reason":' .. text_or_null(job.stop_reason)
        .. ',"reason":' .. text_or_null(reason) .. '}')
    changed(job)
end

-- Queues and leases

-- Groups take turns, and each group orders its own jobs by priority. A group is a tenant. `turns.lua` decides whose
-- turn it is.
--
-- A group's turn is a point of virtual time. Starting a job moves it on by the job's cores over the group's weight, so
-- a group of twice the weight starts twice as many jobs. A group that had nothing queued neither gains nor loses by
-- it: when it comes back, its turn is at the present virtual time, or later if it has used up more than that.

local function group_of(job)
    return job.tenant
end

local function queue_key(group)
    return 'literati:queue:' .. group
end

-- Records of an earlier version have no number of cores.
local function cores_of(job)
    return job.cores ~= '' and tonumber(job.cores) or 1
end

-- Members of equal score sort by text, so equal priorities go by submission.
local function queue_member(job)
    return string.format('%016.0f', tonumber(job.seq)) .. job.id
end

local function virtual_time()
    return tonumber(call('GET', VIRTUAL_TIME) or '0') or 0
end

-- Put a job at the place in its group's queue that its priority gives it. If it is queued already, it is moved.
local function requeue(job)
    local group = group_of(job)
    call('ZADD', queue_key(group), string.format('%.0f', -tonumber(job.priority)), queue_member(job))
    if not call('ZSCORE', TURNS, group) then
        local turn = math.max(virtual_time(), tonumber(call('ZSCORE', RESTED, group) or '0'))
        call('ZREM', RESTED, group)
        call('ZADD', TURNS, string.format('%.17g', turn), group)
    end
end

local function enqueue(job, reason)
    put(job, 'queued_at', now)
    requeue(job)
    call('ZADD', WAITING, now, job.id)
    set_state(job, 'QUEUED', reason)
end

-- Take a member out of a group's queue. A group without queued jobs has no turn.
local function leave_group(group, member)
    local left = call('ZREM', queue_key(group), member)
    local turn = call('EXISTS', queue_key(group)) == 0 and call('ZSCORE', TURNS, group)
    if turn then
        call('ZADD', RESTED, turn, group)
        call('ZREM', TURNS, group)
    end
    return left
end

local function leave_queue(job)
    call('ZREM', WAITING, job.id)
    leave_group(group_of(job), queue_member(job))
end

-- Add to the cores that a group has in use, or take from them.
local function use_cores(job, cores)
    if call('HINCRBY', RUNNING, group_of(job), cores) <= 0 then
        call('HDEL', RUNNING, group_of(job))
    end
end

local function lease_live(job)
    return job.lease_until ~= '' and tonumber(job.lease_until) > tonumber(now)
end

local function lease(job, milliseconds)
    if job.lease_until == '' then
        use_cores(job, cores_of(job))
    end
    put(job, 'lease_until', string.format('%.0f', tonumber(now) + tonumber(milliseconds)))
    put(job, 'heartbeat_at', now)
    call('ZADD', LEASES, job.lease_until, job.id)
end

-- From here on the worker that had it is fenced, whatever the job's epoch.
local function detach(job)
    if job.lease_until ~= '' then
        put(job, 'lease_until', '')
        call('ZREM', LEASES, job.id)
        use_cores(job, -cores_of(job))
    end
    leave_queue(job)
end

local function held_by(job, epoch)
    return job ~= nil and job.epoch == epoch and job.lease_until ~= ''
end

local function fenced(what)
    count('fenced:' .. what)
    return { 'FENCED' }
end

-- Blobs are shared by content: one goes when nobody refers to it. Returns its name then, to be deleted.

local function hold_blob(name)
    call('HINCRBY', REFERENCES, name, 1)
end

local function drop_blob(name)
    if name == '' or call('HINCRBY', REFERENCES, name, -1) > 0 then
        return ''
    end
    call('HDEL', REFERENCES, name)
    call('SADD', GARBAGE, name)
    local bytes = call('HGET', SAVED, name)
    if bytes then
        call('HDEL', SAVED, name)
        count('saved_bytes', string.format('%.0f', 0 - tonumber(bytes)))
    end
    return name
end

-- Ends

-- A tree is proven optimal when the bounds have met and it costs no more than they say.
local function is_proven(job, objective)
    local lower, upper = tonumber(job.lower), tonumber(job.upper)
    return lower and upper and lower >= upper and tonumber(objective) <= lower and '1' or '0'
end

-- Read what a model of the job is made of: the best tree as it was found or, where its worker told it once more at the
-- end, as it is known now. Or the tree that `finish` chose, if it is an earlier one that is still kept: its upper bound
-- is then what the tree costs.
local function read_model(job, stop_reason, proven)
    local revision, objective, upper = job.incumbents, job.objective, job.upper
    local found = job.last_word
    local earlier = job.chosen ~= '' and job.chosen ~= revision
        and call('HGET', job.key .. ':incumbent:' .. job.chosen, 'objective')
    if earlier then
        revision, found, objective = job.chosen, nil, earlier
        upper = tonumber(objective) > (tonumber(upper) or 0) and objective or upper
        proven = is_proven(job, objective)
        stop_reason = 'USER_FINISH'
    end
    if proven == '1' then
        stop_reason = 'PROVEN_OPTIMAL'
    end
    found = found or call('HMGET', job.key .. ':incumbent:' .. revision, 'tree', 'metrics', 'scores')
    local fields = {
        'tenant', job.tenant, 'job', job.id, 'incumbent', revision, 'spec', call('HGET', job.key, 'spec'),
        'settings', call('HGET', job.key, 'settings') or '', 'objective', objective, 'upper', upper,
        'lower', job.lower, 'proven_optimal', proven, 'stop_reason', stop_reason, 'tree', found[1],
        'metrics', found[2], 'scores', found[3] or '', 'created_at', now,
    }
    for i = 2, #fields, 2 do
        if not fields[i] then
            error('there is no ' .. fields[i - 1] .. ' to make a model of job ' .. job.id)
        end
    end
    return fields, revision
end

local function make_model(job, id, fields, revision)
    local seq = call('INCR', 'literati:seq')
    call('HSET', 'literati:model:' .. id, 'seq', seq, unpack(fields))
    call('ZADD', 'literati:tenant-models:' .. job.tenant, seq, id)
    call('HSET', job.key .. ':models', revision, id)
    put(job, 'model_id', id)
    put(job, 'model_revision', revision)
end

-- The one way into a terminal state. `proven` is '1' or '0'. The search's blob stays: another job may start from it.
-- Equal bounds are a proof, whatever else ended the search.
local function end_job(job, state, stop_reason, proven, failure, model_id)
    local model, revision
    if state == 'SUCCEEDED' then
        if job.lower ~= '' and tonumber(job.lower) >= tonumber(job.upper) then
            stop_reason, proven = 'PROVEN_OPTIMAL', '1'
        end
        model, revision = read_model(job, stop_reason, proven)
        model_id = job.model_id ~= '' and job.model_id or model_id -- of a script that failed before it ended the job
    end
    detach(job)
    if model then
        make_model(job, model_id, model, revision)
    end
    put(job, 'stop_reason', stop_reason)
    put(job, 'proven_optimal', proven)
    put(job, 'error', failure)
    put(job, 'finished_at', now)
    call('ZADD', ENDED, now, job.id)
    if job.blob ~= '' then
        call('ZADD', ENDED_SEARCHES, now, job.id)
    end
    call('SREM', 'literati:dataset-live:' .. job.dataset, job.id)
    call('ZADD', DATASETS_USED, 'XX', now, job.dataset)
    set_state(job, state, stop_reason)
    put(job, 'wish', '') -- not before: if this fails half-way, `reconcile` grants it
    count('ended:' .. stop_reason)
    emit(job, 'done', '{"state":"' .. state .. '","stop_reason":' .. text_or_null(stop_reason)
        .. ',"model_id":' .. text_or_null(state == 'SUCCEEDED' and model_id or '') .. '}')
end

-- End a job that is damaged. The numbers and keys that are not what they should be are set anew, so that the job can be
-- read and deleted; its trees stay.
function fail_damaged(job, wrong)
    redis.log(redis.LOG_WARNING, 'literati: job ' .. job.id .. ' is damaged: ' .. wrong)
    for _, member in ipairs(call('ZRANGE', queue_key(job.tenant), 0, -1)) do
        if member:sub(-#job.id) == job.id then
            leave_group(job.tenant, member)
        end
    end
    for _, name in ipairs(NUMBERS) do
        if not tonumber(job[name]) then
            put(job, name, '0')
        end
    end
    for _, name in ipairs(NUMBERS_OR_EMPTY) do
        if job[name] ~= '' and not tonumber(job[name]) then
            call('HDEL', job.key, name)
            job[name] = name == 'lease_until' and '0' or '' -- `detach` ends the lease
        end
    end
    for part, expected in pairs(PARTS) do
        if call('TYPE', job.key .. ':' .. part).ok ~= expected then
            call('UNLINK', job.key .. ':' .. part)
        end
    end
    local message = 'Its record in the store is damaged (' .. wrong .. '), so it cannot go on. Submit it again.'
    end_job(job, 'FAILED', 'ERROR', '0', cjson.encode({ code = 'INTERNAL', message = message }), '')
end

local function cancel(job)
    end_job(job, 'CANCELLED', 'USER_CANCEL', '0', '', '')
end

local function finish_with_stored_tree(job, model_id)
    end_job(job, 'SUCCEEDED', 'USER_FINISH', '0', '', model_id)
end

local function pause(job, reason)
    detach(job)
    put(job, 'stalls', '0')
    set_state(job, 'PAUSED', reason)
    put(job, 'wish', '')
end

-- What becomes of a job whose worker is gone: the wish that was on its way to it, or the queue again. A wish to
-- finish without a tree stays, for the next worker.
local function settle(job, reason, model_id)
    if reason == 'WORKER_LOST' then
        count('lease_losses')
    end
    detach(job)
    if job.wish == 'cancel' then
        cancel(job)
    elseif job.wish == 'pause' then
        pause(job, reason)
    elseif job.wish == 'finish' and has_tree(job) then
        finish_with_stored_tree(job, model_id)
    else
        enqueue(job, reason)
    end
end
