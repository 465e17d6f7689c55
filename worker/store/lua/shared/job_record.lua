-- Read the record of a job. Numbers from workers are kept as the text in which they came; they are only parsed to
-- compare them.

local FIELDS = {
    'tenant', 'dataset', 'seq', 'priority', 'state', 'wish', 'asked', 'epoch', 'ended_epoch', 'lease_until',
    'expansions', 'claim_expansions', 'stalls', 'objective', 'upper', 'lower', 'elapsed', 'states_live', 'memory',
    'incumbents', 'blob', 'stop_reason', 'idempotency', 'cores', 'threads', 'kept_by', 'chosen', 'model_id',
    'revision', 'attempts', 'events', 'limits_revision', 'explored', 'explored_sent', 'seconds_left', 'stage', 'space',
    'proven_space', 'last_stage', 'sweep', 'place', 'archive',
}
local NUMBERS = { -- fields that every job has
    'seq', 'priority', 'epoch', 'stalls', 'expansions', 'claim_expansions', 'states_live', 'incumbents', 'elapsed',
    'memory', 'revision', 'attempts',
}
local NUMBERS_OR_EMPTY = {
    'lease_until', 'objective', 'upper', 'lower', 'cores', 'threads', 'events', 'limits_revision', 'explored',
    'explored_sent', 'seconds_left', 'stage',
}
local PARTS = { events = 'stream', trace = 'list', models = 'hash' } -- keys beside the record, and their types

-- Return what is wrong with a job's record, so that a script would fail on it; nil if nothing is.
local function find_damage(job)
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
        return 'its best tree is missing'
    end
end

-- Fail a job whose record is damaged. Wrong numbers and keys are reset, so that the job can be read and deleted. Its
-- trees stay.
local function fail_damaged(job, damage)
    redis.log(redis.LOG_WARNING, 'literati: job ' .. job.id .. ' is damaged: ' .. damage)
    for _, member in ipairs(call('ZRANGE', queue_key(owner_of(job)), 0, -1)) do
        if member:sub(-#job.id) == job.id then
            remove_member(job.tenant, owner_of(job), member)
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
            job[name] = name == 'lease_until' and '0' or '' -- `unassign` ends the lease
        end
    end
    for part, expected in pairs(PARTS) do
        if call('TYPE', job.key .. ':' .. part).ok ~= expected then
            call('UNLINK', job.key .. ':' .. part)
        end
    end
    local message = 'Its record in the store is damaged (' .. damage .. '), so it cannot go on. Submit it again.'
    end_job(job, 'FAILED', 'ERROR', '0', cjson.encode({ code = 'INTERNAL', message = message }), '')
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

-- Read the fields of a job that scripts need; nil if there is no such job. A damaged job is failed first, so that the
-- caller gets it without a lease and in a terminal state.
local function read(id)
    local job = read_fields(id)
    if job and not TERMINAL[job.state] then
        local damage = find_damage(job)
        if damage then
            fail_damaged(job, damage)
            return read_fields(id)
        end
    end
    return job
end

-- Delete the keys beside the record of a job.
local function unlink_parts(id, incumbents)
    local key = job_key(id)
    for revision = 1, tonumber(incumbents) or 0 do
        call('UNLINK', key .. ':incumbent:' .. revision)
    end
    for part in pairs(PARTS) do
        call('UNLINK', key .. ':' .. part)
    end
end

local function read_of_tenant(id, tenant)
    local job = read(id)
    return job and job.tenant == tenant and job or nil
end

-- Create a job and put it into its queue. `sweep` and `place` are those of a sweep's job, or ''.
local function create_job(id, fields)
    local seq = tostring(call('INCR', 'literati:seq'))
    call('HSET', job_key(id), 'tenant', fields.tenant, 'dataset', fields.dataset, 'seq', seq,
        'priority', fields.priority, 'spec', fields.spec, 'settings', fields.settings, 'limits_revision', 0,
        'state', '', 'wish', '', 'revision', 0, 'epoch', 0, 'attempts', 0, 'stalls', 0, 'expansions', 0,
        'claim_expansions', 0, 'states_live', 0, 'incumbents', 0, 'elapsed', '0.0', 'memory', 0, 'created_at', now,
        'idempotency', fields.idempotency or '', 'request_id', fields.request_id, 'cores', fields.cores)
    if fields.sweep then
        call('HSET', job_key(id), 'sweep', fields.sweep, 'place', fields.place)
    end
    local job = read(id)
    call('ZADD', ACTIVE, now, id)
    call('ZADD', 'literati:tenant-jobs:' .. owner_of(job), seq, id)
    call('SADD', 'literati:dataset-live:' .. fields.dataset, id)
    call('ZADD', DATASETS_USED, now, fields.dataset)
    enqueue(job, '')
    return job
end
