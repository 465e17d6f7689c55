-- id tenant
local id, tenant = unpack(ARGV)

local key = 'literati:dataset:' .. id
local found = call('HMGET', key, 'tenant', 'record', 'content', 'blob')
if found[1] ~= tenant then
    return { 'DATASET_GONE' }
end
if call('SCARD', 'literati:dataset-live:' .. id) > 0 then
    return { 'DATASET_IN_USE' }
end
call('ZREM', 'literati:tenant-datasets:' .. tenant, id)
drop_blob(found[4])
call('DEL', key, found[3])
return { 'OK', found[2] }
