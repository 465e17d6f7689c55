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
local answer = answer_of_known_key('sweep', idempotency_key, body)
    or refusal(tenant, dataset, 'sweep', max_live, max_sweeps, max_models)
if answer then
    return answer
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
remember_key('sweep', idempotency_key, id, body, remembered)
count('sweeps_submitted')
local sweep = read_sweep(id)
begin_sweep(sweep)
set_sweep_state(sweep, 'QUEUED', '')
advance_sweep(sweep)
return { 'CREATED', call('HGETALL', sweep_key(id)) }
