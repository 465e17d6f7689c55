-- Everything that Prometheus is told of jobs and workers, in one answer. Its cost grows with the jobs that workers
-- have, never with those that are stored.
local written = redis.pcall('SET', 'literati:ready', 1)

local running = {}
for i, id in ipairs(call('ZRANGE', LEASES, 0, -1)) do
    running[i] = call('HMGET', job_key(id), 'upper', 'lower', 'memory')
end
return {
    'OK',
    written.err and 0 or 1,
    now,
    call('HGETALL', 'literati:states'),
    call('HGETALL', TOTALS),
    call('ZCARD', WAITING),
    call('ZRANGE', WAITING, 0, 0, 'WITHSCORES'),
    call('ZRANGEBYSCORE', WORKERS, now, '+inf'),
    running,
    call('ZCARD', TURNS),
    call('HVALS', RUNNING),
}
