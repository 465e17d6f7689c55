-- tenant id_or_alias, then names of fields and their values as JSON
local tenant, name = ARGV[1], ARGV[2]

local id = call('HGET', 'literati:aliases:' .. tenant, name) or name
local key = 'literati:model:' .. id
if call('HGET', key, 'tenant') ~= tenant then
    return { 'MODEL_GONE' }
end
for i = 3, #ARGV, 2 do
    call('HSET', key, ARGV[i], ARGV[i + 1])
end
return { 'OK', id }
