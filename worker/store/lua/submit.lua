-- id tenant dataset priority spec settings idempotency(digest or '') body_digest remembered_ms request_id
-- cores max_live max_jobs max_models max_queued (the last four each a number or '')
local id, tenant, dataset, priority, spec, settings, idempotency, body, remembered, request_id = unpack(ARGV, 1, 10)
local cores, max_live, max_jobs, max_models, max_queued = unpack(ARGV, 11)

-- The answer to the first call was lost, and the client library repeated the call.
if read_of_tenant(id, tenant) then
    return { 'CREATED', call('HGETALL', job_key(id)) }
end

local idempotency_key = idempotency ~= '' and 'literati:idempotency:' .. idempotency or nil
local answer = answer_of_known_key('job', idempotency_key, body)
    or refusal(tenant, dataset, 'job', max_live, max_jobs, max_models)
if answer then
    return answer
end
-- Even if the queue is full, a tenant may use its share of it. Jobs of sweeps do not fill it: each sweep has few.
if max_queued ~= '' and queued_single_jobs() >= tonumber(max_queued) then
    local tenants = call('ZCARD', START_TIMES) + (call('ZSCORE', START_TIMES, tenant) and 0 or 1)
    if call('ZCARD', queue_key(tenant)) >= math.floor(tonumber(max_queued) / tenants) then
        return { 'LIMIT_REACHED', 'queue' }
    end
end

remember_key('job', idempotency_key, id, body, remembered)
count('submitted')
create_job(id, {
    tenant = tenant, dataset = dataset, priority = priority, spec = spec, settings = settings,
    idempotency = idempotency_key, request_id = request_id, cores = cores,
})
return { 'CREATED', call('HGETALL', job_key(id)) }
