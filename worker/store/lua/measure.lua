-- Return all numbers of jobs and workers for Prometheus. The cost depends on the number of running jobs, not on the
-- number of stored ones.
local written = redis.pcall('SET', 'literati:ready', 1)

-- What the server says about itself; '' if this user has no right to ask.
local function info(section)
    local answer = redis.pcall('INFO', section)
    return type(answer) == 'string' and answer or ''
end

local running = {}
for i, id in ipairs(call('ZRANGE', LEASES, 0, -1)) do
    running[i] = call('HMGET', job_key(id), 'upper', 'lower', 'memory', 'explored')
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
    call('ZCARD', START_TIMES),
    call('HVALS', RUNNING),
    call('HGETALL', SWEEP_STATES),
    info('memory') .. info('persistence'),
    call('HGETALL', LAST_BACKUP),
}
