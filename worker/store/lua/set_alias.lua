-- tenant alias id
local tenant, alias, id = unpack(ARGV)

if call('HGET', 'literati:model:' .. id, 'tenant') ~= tenant then
    return { 'MODEL_GONE' }
end
call('HSET', 'literati:aliases:' .. tenant, alias, id)
return { 'OK' }
