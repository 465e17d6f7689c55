-- id tenant dataset priority spec settings idempotency(digest or '') body_digest remembered_ms request_id
-- folds max_failed(or '') time_limit_ms(or '') max_live max_sweeps max_models (the last three each a number or '')
-- units(JSON) jobs(JSON arrays of texts, one for each argument: id place spec settings cores)
local id, tenant, dataset, priority, spec, settings, idempotency, body, remembered, request_id = unpack(ARGV, 1, 10)
local folds, max_failed, time_limit, max_live, max_sweeps, max_models, units = unpack(ARGV, 11, 17)

-- The answer to the first call was lost, and the client library repeated the call.
if read_sweep_of_tenant(id, tenant) then
    return { 'CREATED', call('HGETALL', sweep_key(id)) }
end
local idempotency_key = idempotency ~= '' and 'literati:idempotency:' .. idempotency or nil
if idempotency_key then
    local known = call('HMGET', idempotency_key, 'sweep', 'body')
    if known[1] and call('EXISTS', sweep_key(known[1])) == 1 then
        if known[2] ~= body then
            return { 'IDEMPOTENCY_CONFLICT' }
        end
        return { 'KNOWN', call('HGETALL', sweep_key(known[1])) }
    end
end
if call('HGET', 'literati:dataset:' .. dataset, 'tenant') ~= tenant then
    return { 'DATASET_GONE' }
end
local live = live_jobs(tenant)
for _, limit in ipairs({
    { 'live_jobs', max_live, live },
    { 'sweeps', max_sweeps, call('ZCARD', 'literati:tenant-sweeps:' .. tenant) },
    { 'models', max_models, call('ZCARD', 'literati:tenant-models:' .. tenant) + live },
}) do
    if limit[2] ~= '' and limit[3] >= tonumber(limit[2]) then
        return { 'LIMIT_REACHED', limit[1] }
    end
end

local seq = tostring(call('INCR', 'literati:seq'))
call('HSET', sweep_key(id), 'tenant', tenant, 'dataset', dataset, 'seq', seq, 'priority', priority, 'spec', spec,
    'settings', settings, 'state', '', 'revision', 0, 'created_at', now, 'request_id', request_id, 'folds', folds,
    'max_failed', max_failed, 'time_limit', time_limit, 'used', 0, 'round', 0, 'idempotency', idempotency_key or '')
call('SET', sweep_key(id) .. ':plan', units)
call('ZADD', 'literati:tenant-sweeps:' .. tenant, seq, id)
for i = 18, #ARGV do
    call('RPUSH', sweep_key(id) .. ':pending', ARGV[i])
end
if idempotency_key then
    call('HSET', idempotency_key, 'sweep', id, 'body', body)
    call('PEXPIRE', idempotency_key, remembered)
end
count('sweeps_submitted')
local sweep = read_sweep(id)
begin_sweep(sweep)
set_sweep_state(sweep, 'QUEUED', '')
advance_sweep(sweep)
return { 'CREATED', call('HGETALL', sweep_key(id)) }
