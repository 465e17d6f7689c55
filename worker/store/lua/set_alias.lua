-- tenant alias id max_aliases(or '')
local tenant, alias, id, max_aliases = unpack(ARGV)

if call('HGET', 'literati:model:' .. id, 'tenant') ~= tenant then
    return { 'MODEL_GONE' }
end
local aliases = 'literati:aliases:' .. tenant
if max_aliases ~= '' and call('HLEN', aliases) >= tonumber(max_aliases) and call('HEXISTS', aliases, alias) == 0 then
    return { 'LIMIT_REACHED', 'aliases' }
end
call('HSET', aliases, alias, id)
return { 'OK' }
