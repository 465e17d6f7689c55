-- Records that go, and the blobs they hold with them. Stands after the prelude in the scripts that delete.

-- Its trees, events and search; its model stays.
local function forget_job(job)
    for revision = 1, tonumber(job.incumbents) do
        call('UNLINK', job.key .. ':incumbent:' .. revision)
    end
    call('ZREM', 'literati:tenant-jobs:' .. job.tenant, job.id)
    call('ZREM', state_index(job.state, job.tenant), job.id)
    call('HINCRBY', 'literati:states', job.state, -1)
    call('ZREM', ENDED, job.id)
    call('ZREM', ENDED_SEARCHES, job.id)
    if job.idempotency ~= '' and call('HGET', job.idempotency, 'job') == job.id then
        call('DEL', job.idempotency)
    end
    local blob = drop_blob(job.blob)
    call('UNLINK', job.key, job.key .. ':trace', job.key .. ':events', job.key .. ':models')
    call('PUBLISH', 'literati:changed', job.id)
    return blob
end

local function forget_search(job)
    call('ZREM', ENDED_SEARCHES, job.id)
    local blob = drop_blob(job.blob)
    put(job, 'blob', '')
    return blob
end

local function dataset_in_use(id)
    return call('SCARD', 'literati:dataset-live:' .. id) > 0
end

local function forget_dataset(id, tenant)
    local key = 'literati:dataset:' .. id
    local found = call('HMGET', key, 'content', 'blob', 'stored')
    call('ZREM', 'literati:tenant-datasets:' .. tenant, id)
    call('ZREM', DATASETS_USED, id)
    if call('HINCRBY', 'literati:dataset-bytes', tenant, -(found[3] or 0)) <= 0 then
        call('HDEL', 'literati:dataset-bytes', tenant)
    end
    drop_blob(found[2])
    call('DEL', key, found[1])
end
