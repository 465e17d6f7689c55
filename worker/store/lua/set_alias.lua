-- tenant alias id most(or '')
local tenant, alias, id, most = unpack(ARGV)

if call('HGET', 'literati:model:' .. id, 'tenant') ~= tenant then
    return { 'MODEL_GONE' }
end
local aliases = 'literati:aliases:' .. tenant
if most ~= '' and call('HLEN', aliases) >= tonumber(most) and call('HEXISTS', aliases, alias) == 0 then
    return { 'LIMIT_REACHED', 'aliases' }
end
call('HSET', aliases, alias, id)
return { 'OK' }
