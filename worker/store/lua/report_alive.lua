-- "name slots" milliseconds(until the worker is not counted any more; 0 if it ends now)
local worker, milliseconds = unpack(ARGV)

call('ZREMRANGEBYSCORE', WORKERS, '-inf', now)
if milliseconds == '0' then
    call('ZREM', WORKERS, worker)
else
    call('ZADD', WORKERS, string.format('%.0f', tonumber(now) + tonumber(milliseconds)), worker)
end
return { 'OK' }
