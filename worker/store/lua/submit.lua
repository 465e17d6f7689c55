-- id tenant dataset priority spec settings idempotency(digest or '') body_digest remembered_ms request_id
-- cores most_live most_jobs most_models most_queued (the last four each a number or '')
local id, tenant, dataset, priority, spec, settings, idempotency, body, remembered, request_id = unpack(ARGV, 1, 10)
local cores, most_live, most_jobs, most_models, most_queued = unpack(ARGV, 11)

-- The answer to the first try was lost and the client library tried again.
if read_of_tenant(id, tenant) then
    return { 'CREATED', call('HGETALL', job_key(id)) }
end

local seen = idempotency ~= '' and 'literati:idempotency:' .. idempotency or nil
if seen then
    local known = call('HMGET', seen, 'job', 'body')
    if known[1] and call('EXISTS', job_key(known[1])) == 1 then
        if known[2] ~= body then
            return { 'IDEMPOTENCY_CONFLICT' }
        end
        return { 'KNOWN', call('HGETALL', job_key(known[1])) }
    end
end

if call('HGET', 'literati:dataset:' .. dataset, 'tenant') ~= tenant then
    return { 'DATASET_GONE' }
end

local live = live_jobs(tenant)
local models = call('ZCARD', 'literati:tenant-models:' .. tenant)
for _, limit in ipairs({
    { 'live_jobs', most_live, live },
    { 'jobs', most_jobs, call('ZCARD', 'literati:tenant-jobs:' .. tenant) },
    { 'models', most_models, models + live }, -- each of them may become one, which is not refused then
}) do
    if limit[2] ~= '' and limit[3] >= tonumber(limit[2]) then
        return { 'LIMIT_REACHED', limit[1] }
    end
end
-- A full queue is no reason to refuse a tenant that has less than its share of it.
if most_queued ~= '' and call('ZCARD', WAITING) >= tonumber(most_queued) then
    local tenants = call('ZCARD', TURNS) + (call('ZSCORE', TURNS, tenant) and 0 or 1)
    if call('ZCARD', queue_key(tenant)) >= math.floor(tonumber(most_queued) / tenants) then
        return { 'LIMIT_REACHED', 'queue' }
    end
end

local seq = tostring(call('INCR', 'literati:seq'))
call('HSET', job_key(id), 'tenant', tenant, 'dataset', dataset, 'seq', seq, 'priority', priority, 'spec', spec,
    'settings', settings, 'limits_revision', 0,
    'state', '', 'wish', '', 'revision', 0, 'epoch', 0, 'attempts', 0, 'stalls', 0, 'expansions', 0,
    'claim_expansions', 0, 'states_live', 0, 'incumbents', 0, 'elapsed', '0.0', 'memory', 0, 'created_at', now,
    'idempotency', seen or '', 'request_id', request_id, 'cores', cores)
call('ZADD', ACTIVE, now, id)
call('ZADD', 'literati:tenant-jobs:' .. tenant, seq, id)
call('SADD', 'literati:dataset-live:' .. dataset, id)
call('ZADD', DATASETS_USED, now, dataset)
if seen then
    call('HSET', seen, 'job', id, 'body', body)
    call('PEXPIRE', seen, remembered)
end
count('submitted')
enqueue(read(id), '')
return { 'CREATED', call('HGETALL', job_key(id)) }
