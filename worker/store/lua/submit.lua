-- id tenant dataset priority spec idempotency(digest or '') body_digest live_limit(or '') remembered_ms request_id
local id, tenant, dataset, priority, spec, idempotency, body, limit, remembered, request_id = unpack(ARGV)

local LIVE = { 'QUEUED', 'STARTING', 'RUNNING', 'PAUSING', 'PAUSED', 'STOPPING' }

-- The answer to the first try was lost and the client library tried again.
if read_of_tenant(id, tenant) then
    return { 'CREATED', call('HGETALL', job_key(id)) }
end

local seen = idempotency ~= '' and 'literati:idempotency:' .. idempotency or nil
if seen then
    local known = call('HMGET', seen, 'job', 'body')
    if known[1] then
        if known[2] ~= body then
            return { 'IDEMPOTENCY_CONFLICT' }
        end
        return { 'KNOWN', call('HGETALL', job_key(known[1])) }
    end
end

if call('HGET', 'literati:dataset:' .. dataset, 'tenant') ~= tenant then
    return { 'DATASET_GONE' }
end

if limit ~= '' then
    local live = 0
    for _, state in ipairs(LIVE) do
        live = live + call('ZCARD', state_index(state, tenant))
    end
    if live >= tonumber(limit) then
        return { 'TOO_MANY_JOBS' }
    end
end

local seq = tostring(call('INCR', 'literati:seq'))
call('HSET', job_key(id), 'tenant', tenant, 'dataset', dataset, 'seq', seq, 'priority', priority, 'spec', spec,
    'state', '', 'wish', '', 'revision', 0, 'epoch', 0, 'attempts', 0, 'stalls', 0, 'expansions', 0,
    'claim_expansions', 0, 'states_live', 0, 'incumbents', 0, 'elapsed', '0.0', 'memory', 0, 'created_at', now,
    'idempotency', seen or '', 'request_id', request_id)
call('ZADD', 'literati:tenant-jobs:' .. tenant, seq, id)
call('SADD', 'literati:dataset-live:' .. dataset, id)
if seen then
    call('HSET', seen, 'job', id, 'body', body)
    call('PEXPIRE', seen, remembered)
end
count('submitted')
enqueue(read(id), '')
return { 'CREATED', call('HGETALL', job_key(id)) }
