-- Delete, restore and purge records.
--
-- A deleted record that may be restored keeps its blobs. It is stored under another key, where only `restore` and
-- `purge` look for it, and is in none of the indexes.

local DELETED = 'literati:deleted' -- "kind id" by the time of the deletion
local MAX_DELETED = 1000 -- of each kind and tenant; beyond that the oldest are purged

local function record_key(kind, id)
    return 'literati:' .. kind .. ':' .. id
end

local function deleted_key(kind, id)
    return 'literati:deleted-' .. kind .. ':' .. id
end

local function deleted_index(kind, tenant)
    return 'literati:deleted-' .. kind .. 's:' .. tenant
end

local function add_bytes(name, tenant, bytes)
    if bytes ~= 0 and call('HINCRBY', name, tenant, string.format('%.0f', bytes)) <= 0 then
        call('HDEL', name, tenant)
    end
end

local function dataset_in_use(id)
    return call('SCARD', 'literati:dataset-live:' .. id) > 0
end

-- For each kind of record, `unlist` removes it from the indexes, `list` puts it back, and `drop` deletes what belongs
-- to it. `key` is the present key of the record. `drop` returns the blob that has lost its last reference, or ''.
local KINDS = { job = {}, dataset = {}, model = {}, sweep = {} }

function KINDS.job.unlist(id, tenant, key)
    local state = call('HGET', key, 'state') or ''
    local owner = owner_of({ tenant = tenant, sweep = call('HGET', key, 'sweep') or '' })
    call('ZREM', 'literati:tenant-jobs:' .. owner, id)
    call('ZREM', state_index(state, owner), id)
    call('HINCRBY', 'literati:states', state, -1)
    call('ZREM', ENDED, id)
    call('ZREM', ENDED_SEARCHES, id)
    call('ZREM', ARCHIVABLE, id)
    call('PUBLISH', 'literati:changed', id)
end

function KINDS.job.list(id, tenant, key)
    local found = call('HMGET', key, 'seq', 'state', 'finished_at', 'blob', 'archive')
    call('ZADD', 'literati:tenant-jobs:' .. tenant, found[1], id)
    call('ZADD', state_index(found[2], tenant), found[1], id)
    call('HINCRBY', 'literati:states', found[2], 1)
    call('ZADD', ENDED, found[3], id)
    if found[4] and found[4] ~= '' then
        call('ZADD', ENDED_SEARCHES, found[3], id)
    end
    if not found[5] then
        call('ZADD', ARCHIVABLE, found[3], id)
    end
    call('PUBLISH', 'literati:changed', id)
end

-- Delete its trees, events and search. Its models stay. The reconciler deletes the blob of its archive.
function KINDS.job.drop(id, _, key)
    local found = call('HMGET', key, 'incumbents', 'idempotency', 'blob', 'archive')
    unlink_parts(id, found[1])
    remove_archive(archive_name(found[4]))
    if found[2] and found[2] ~= '' and call('HGET', found[2], 'job') == id then
        call('DEL', found[2])
    end
    return remove_reference(found[3] or '')
end

function KINDS.sweep.unlist(id, tenant, key)
    local state = call('HGET', key, 'state') or ''
    call('ZREM', 'literati:tenant-sweeps:' .. tenant, id)
    call('ZREM', sweep_index(state, tenant), id)
    call('HINCRBY', SWEEP_STATES, state, -1)
    call('ZREM', ENDED_SWEEPS, id)
    call('PUBLISH', 'literati:changed', id)
end

function KINDS.sweep.list(id, tenant, key)
    local found = call('HMGET', key, 'seq', 'state', 'finished_at')
    call('ZADD', 'literati:tenant-sweeps:' .. tenant, found[1], id)
    call('ZADD', sweep_index(found[2], tenant), found[1], id)
    call('HINCRBY', SWEEP_STATES, found[2], 1)
    call('ZADD', ENDED_SWEEPS, found[3], id)
    call('PUBLISH', 'literati:changed', id)
end

-- Delete its jobs and results. Its models stay.
function KINDS.sweep.drop(id, tenant, key)
    for _, job_id in ipairs(call('ZRANGE', 'literati:tenant-jobs:sweep:' .. id, 0, -1)) do
        KINDS.job.unlist(job_id, tenant, job_key(job_id))
        KINDS.job.drop(job_id, tenant, job_key(job_id))
        call('UNLINK', job_key(job_id))
    end
    local idempotency = call('HGET', key, 'idempotency') or ''
    if idempotency ~= '' and call('HGET', idempotency, 'sweep') == id then
        call('DEL', idempotency)
    end
    for _, part in ipairs({ 'plan', 'pending', 'children', 'results', 'failures', 'dropped', 'live', 'events' }) do
        call('UNLINK', sweep_key(id) .. ':' .. part)
    end
    return ''
end

function KINDS.dataset.unlist(id, tenant, key)
    local found = call('HMGET', key, 'content', 'stored')
    call('ZREM', 'literati:tenant-datasets:' .. tenant, id)
    call('ZREM', DATASETS_USED, id)
    add_bytes('literati:dataset-bytes', tenant, -tonumber(found[2] or 0))
    if found[1] and call('GET', found[1]) == id then
        call('DEL', found[1])
    end
end

-- If the same table was uploaded again meanwhile, there are two datasets of the same content.
function KINDS.dataset.list(id, tenant, key)
    local found = call('HMGET', key, 'content', 'stored', 'seq')
    call('ZADD', 'literati:tenant-datasets:' .. tenant, found[3], id)
    call('ZADD', DATASETS_USED, now, id)
    add_bytes('literati:dataset-bytes', tenant, tonumber(found[2] or 0))
    call('SET', found[1], id, 'NX')
end

function KINDS.dataset.drop(_, _, key)
    return remove_reference(call('HGET', key, 'blob') or '')
end

function KINDS.model.unlist(id, tenant)
    call('ZREM', 'literati:tenant-models:' .. tenant, id)
    call('ZREM', ARCHIVABLE, id)
end

function KINDS.model.list(id, tenant, key)
    local found = call('HMGET', key, 'seq', 'archive', 'created_at')
    call('ZADD', 'literati:tenant-models:' .. tenant, found[1], id)
    if not found[2] then
        call('ZADD', ARCHIVABLE, found[3], id)
    end
end

function KINDS.model.drop(_, _, key)
    return remove_archive(archive_name(call('HGET', key, 'archive')))
end

-- Delete a record for good.
local function delete_record(kind, id, tenant)
    local key = record_key(kind, id)
    KINDS[kind].unlist(id, tenant, key)
    local blob = KINDS[kind].drop(id, tenant, key)
    call('UNLINK', key)
    return blob
end

local function deleted_bytes(kind, key)
    return kind == 'dataset' and tonumber(call('HGET', key, 'stored') or 0) or 0
end

-- Remove a record from the indexes of deleted records.
local function unlist_deleted(kind, id, tenant, key)
    call('ZREM', DELETED, kind .. ' ' .. id)
    call('ZREM', deleted_index(kind, tenant), id)
    add_bytes('literati:deleted-bytes', tenant, -deleted_bytes(kind, key))
end

-- Delete a deleted record for good. `tenant` is the one whose index names it.
local function purge(kind, id, tenant)
    local key = deleted_key(kind, id)
    tenant = call('HGET', key, 'tenant') or tenant
    if not tenant then
        call('ZREM', DELETED, kind .. ' ' .. id) -- there is no such record
        return
    end
    unlist_deleted(kind, id, tenant, key)
    KINDS[kind].drop(id, tenant, key)
    call('UNLINK', key)
end

-- Purge the record of this kind that was deleted first, and return its id; nil if there is none.
local function purge_oldest(kind, tenant)
    local oldest = (call('ZRANGE', deleted_index(kind, tenant), 0, 0))[1]
    if oldest then
        purge(kind, oldest, tenant)
    end
    return oldest
end

-- Delete a record so that it can be restored.
local function soft_delete(kind, id, tenant)
    local key = record_key(kind, id)
    KINDS[kind].unlist(id, tenant, key)
    call('ZADD', DELETED, now, kind .. ' ' .. id)
    call('ZADD', deleted_index(kind, tenant), now, id)
    add_bytes('literati:deleted-bytes', tenant, deleted_bytes(kind, key))
    call('RENAME', key, deleted_key(kind, id))
    if call('ZCARD', deleted_index(kind, tenant)) > MAX_DELETED then
        purge_oldest(kind, tenant)
    end
end

local function delete_search(job)
    call('ZREM', ENDED_SEARCHES, job.id)
    local blob = remove_reference(job.blob)
    put(job, 'blob', '')
    return blob
end
