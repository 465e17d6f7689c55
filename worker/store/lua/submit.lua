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
-- Even if the queue is full, a tenant may use its share of it. Jobs of sweeps do not fill it: each sweep has few.
if max_queued ~= '' and queued_single_jobs() >= tonumber(max_queued) then
    local tenants = call('ZCARD', START_TIMES) + (call('ZSCORE', START_TIMES, tenant) and 0 or 1)
    if call('ZCARD', queue_key(tenant)) >= math.floor(tonumber(max_queued) / tenants) then
        return { 'LIMIT_REACHED', 'queue' }
    end
end

if idempotency_key then
    call('HSET', idempotency_key, 'job', id, 'body', body)
    call('PEXPIRE', idempotency_key, remembered)
end
count('submitted')
create_job(id, {
    tenant = tenant, dataset = dataset, priority = priority, spec = spec, settings = settings,
    idempotency = idempotency_key, request_id = request_id, cores = cores,
})
return { 'CREATED', call('HGETALL', job_key(id)) }
