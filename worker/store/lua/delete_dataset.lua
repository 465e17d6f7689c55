-- id tenant
local id, tenant = unpack(ARGV)

local found = call('HMGET', 'literati:dataset:' .. id, 'tenant', 'record')
if found[1] ~= tenant then
    return { 'DATASET_GONE' }
end
if dataset_in_use(id) then
    return { 'DATASET_IN_USE' }
end
forget_dataset(id, tenant)
return { 'OK', found[2] }
