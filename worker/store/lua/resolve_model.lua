-- tenant id_or_alias
local tenant, name = unpack(ARGV)

local id = call('HGET', 'literati:aliases:' .. tenant, name) or name
if call('HGET', 'literati:model:' .. id, 'tenant') ~= tenant then
    return { 'MODEL_GONE' }
end
return { 'OK', id }
