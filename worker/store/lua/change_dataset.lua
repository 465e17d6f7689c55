-- id tenant expected(the record before the change) record summary
local id, tenant, expected, record, summary = unpack(ARGV)

local key = 'literati:dataset:' .. id
local found = call('HMGET', key, 'tenant', 'record')
if found[1] ~= tenant then
    return { 'DATASET_GONE' }
elseif found[2] ~= expected and found[2] ~= record then
    return { 'CHANGED_MEANWHILE' }
end
call('HSET', key, 'record', record, 'summary', summary)
return { 'OK' }
