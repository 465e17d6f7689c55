-- Checks before a job or a sweep is stored. `submit` and `submit_sweep` use this.

-- Return the answer to a request whose idempotency key is known; nil if it is new. `kind` is "job" or "sweep".
local function answer_of_known_key(kind, idempotency_key, body)
    local known = idempotency_key and call('HMGET', idempotency_key, kind, 'body') or {}
    local record = 'literati:' .. kind .. ':' .. (known[1] or '')
    if not known[1] or call('EXISTS', record) == 0 then
        return nil
    elseif known[2] ~= body then
        return { 'IDEMPOTENCY_CONFLICT' }
    end
    return { 'KNOWN', call('HGETALL', record) }
end

local function remember_key(kind, idempotency_key, id, body, milliseconds)
    if idempotency_key then
        call('HSET', idempotency_key, kind, id, 'body', body)
        call('PEXPIRE', idempotency_key, milliseconds)
    end
end

-- Return the answer to a tenant whose dataset was deleted or who has reached a limit; nil if there is none. Every job or
-- sweep that has not ended may still make a model, which is not refused then.
local function refusal(tenant, dataset, kind, max_live, max_records, max_models)
    if call('HGET', 'literati:dataset:' .. dataset, 'tenant') ~= tenant then
        return { 'DATASET_GONE' }
    end
    local live = live_jobs(tenant)
    for _, limit in ipairs({
        { 'live_jobs', max_live, live },
        { kind .. 's', max_records, call('ZCARD', 'literati:tenant-' .. kind .. 's:' .. tenant) },
        { 'models', max_models, call('ZCARD', 'literati:tenant-models:' .. tenant) + live },
    }) do
        if limit[2] ~= '' and limit[3] >= tonumber(limit[2]) then
            return { 'LIMIT_REACHED', limit[1] }
        end
    end
end
