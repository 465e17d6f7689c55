-- kind(job, dataset or model) id tenant most(records of this kind, or '') most_bytes(of datasets, or '')
-- Restoring what is there already does nothing.
local kind, id, tenant, most, most_bytes = unpack(ARGV)

local key, aside = record_key(kind, id), deleted_key(kind, id)
if call('HGET', key, 'tenant') == tenant then
    return { 'OK' }
elseif call('HGET', aside, 'tenant') ~= tenant then
    return { kind:upper() .. '_GONE' }
end
local count = call('ZCARD', 'literati:tenant-' .. kind .. 's:' .. tenant)
if kind == 'model' then
    count = count + live_jobs(tenant)
end
if most ~= '' and count >= tonumber(most) then
    return { 'LIMIT_REACHED', kind .. 's' }
end
local bytes = tonumber(call('HGET', 'literati:dataset-bytes', tenant) or 0) + deleted_bytes(kind, aside)
if most_bytes ~= '' and bytes > tonumber(most_bytes) then
    return { 'LIMIT_REACHED', 'dataset_bytes' }
end
leave_deleted(kind, id, tenant, aside)
call('RENAME', aside, key)
KINDS[kind].list(id, tenant, key)
return { 'OK' }
