-- tenant alias
local tenant, alias = unpack(ARGV)

if call('HDEL', 'literati:aliases:' .. tenant, alias) == 0 then
    return { 'ALIAS_GONE' }
end
return { 'OK' }
