-- id tenant dataset priority spec settings idempotency(digest or '') body_digest remembered_ms request_id
-- cores max_live max_jobs max_models max_queued (the last four each a number or '')
local id, tenant, dataset, priority, spec, settings, idempotency, body, remembered, request_id = unpack(ARGV, 1, 10)
local cores, max_live, max_jobs, max_models, max_queued = unpack(ARGV, 11)

-- The answer to the first call was lost, and the client library repeated the call.
if read_of_tenant(id, tenant) then
    return { 'CREATED', call('HGETALL', job_key(id)) }
end

local idempotency_key = idempotency ~= '' and 'literati:idempotency:' .. idempotency or nil
if idempotency_key then
    local known = call('HMGET', idempotency_key, 'job', 'body')
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
for _, limit in ipairs({
    { 'live_jobs', max_live, live },
    { 'jobs', max_jobs, call('ZCARD', 'literati:tenant-jobs:' .. tenant) },
    -- Every live job may still make a model, which is not refused then.
    { 'models', max_models, call('ZCARD', 'literati:tenant-models:' .. tenant) + live },
}) do
    if limit[2] ~= '' and limit[3] >= tonumber(limit[2]) then
        return { 'LIMIT_REACHED', limit[1] }
    end
end
-- Even if the queue is full, a tenant may use its share of it.
if max_queued ~= '' and call('ZCARD', WAITING) >= tonumber(max_queued) then
    local tenants = call('ZCARD', START_TIMES) + (call('ZSCORE', START_TIMES, tenant) and 0 or 1)
    if call('ZCARD', queue_key(tenant)) >= math.floor(tonumber(max_queued) / tenants) then
        return { 'LIMIT_REACHED', 'queue' }
    end
end

local seq = tostring(call('INCR', 'literati:seq'))
call('HSET', job_key(id), 'tenant', tenant, 'dataset', dataset, 'seq', seq, 'priority', priority, 'spec', spec,
    'settings', settings, 'limits_revision', 0,
    'state', '', 'wish', '', 'revision', 0, 'epoch', 0, 'attempts', 0, 'stalls', 0, 'expansions', 0,
    'claim_expansions', 0, 'states_live', 0, 'incumbents', 0, 'elapsed', '0.0', 'memory', 0, 'created_at', now,
    'idempotency', idempotency_key or '', 'request_id', request_id, 'cores', cores)
call('ZADD', ACTIVE, now, id)
call('ZADD', 'literati:tenant-jobs:' .. tenant, seq, id)
call('SADD', 'literati:dataset-live:' .. dataset, id)
call('ZADD', DATASETS_USED, now, dataset)
if idempotency_key then
    call('HSET', idempotency_key, 'job', id, 'body', body)
    call('PEXPIRE', idempotency_key, remembered)
end
count('submitted')
enqueue(read(id), '')
return { 'CREATED', call('HGETALL', job_key(id)) }
