-- tenant weight
local tenant, weight = unpack(ARGV)

if tonumber(weight) == DEFAULT_WEIGHT then
    call('HDEL', WEIGHTS, tenant)
else
    call('HSET', WEIGHTS, tenant, weight)
end
return { 'OK' }
