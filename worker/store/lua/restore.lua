-- kind(job, dataset, model or sweep) id tenant max_records(of this kind, or '') max_bytes(of datasets, or '')
-- Restoring a record that is not deleted does nothing.
local kind, id, tenant, max_records, max_bytes = unpack(ARGV)

local key, deleted = record_key(kind, id), deleted_key(kind, id)
if call('HGET', key, 'tenant') == tenant then
    return { 'OK' }
elseif call('HGET', deleted, 'tenant') ~= tenant then
    return { kind:upper() .. '_GONE' }
end
local records = call('ZCARD', 'literati:tenant-' .. kind .. 's:' .. tenant)
if kind == 'model' then
    records = records + live_jobs(tenant)
end
if max_records ~= '' and records >= tonumber(max_records) then
    return { 'LIMIT_REACHED', kind .. 's' }
end
local bytes = tonumber(call('HGET', 'literati:dataset-bytes', tenant) or 0) + deleted_bytes(kind, deleted)
if max_bytes ~= '' and bytes > tonumber(max_bytes) then
    return { 'LIMIT_REACHED', 'dataset_bytes' }
end
unlist_deleted(kind, id, tenant, deleted)
call('RENAME', deleted, key)
KINDS[kind].list(id, tenant, key)
return { 'OK' }
