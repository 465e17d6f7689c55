-- tenant id
local tenant, id = unpack(ARGV)

local key = 'literati:model:' .. id
if call('HGET', key, 'tenant') ~= tenant then
    return { 'MODEL_GONE' }
end
for _, named in ipairs(call('HVALS', 'literati:aliases:' .. tenant)) do
    if named == id then
        return { 'MODEL_IN_USE' }
    end
end
call('ZREM', 'literati:tenant-models:' .. tenant, id)
call('DEL', key)
return { 'OK' }
