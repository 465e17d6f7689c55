-- model ids, one for each job that may be settled
local FORMAT, OLD_QUEUE = '2', 'literati:queue'

-- A store of the first format has one queue for all tenants and does not count the cores in use.
if call('GET', 'literati:format') ~= FORMAT then
    for _, member in ipairs(call('ZRANGE', OLD_QUEUE, 0, -1)) do
        local job = read(member:sub(17))
        if job and job.state == 'QUEUED' then
            requeue(job)
        end
    end
    call('DEL', OLD_QUEUE, RUNNING)
    for _, id in ipairs(call('ZRANGE', LEASES, 0, -1)) do
        local job = read(id)
        use_cores(job, cores_of(job))
    end
    call('SET', 'literati:format', FORMAT)
end

count('reconciler_rounds')
local lost = {}
for i, id in ipairs(call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, #ARGV)) do
    local job = read(id)
    lost[i] = { id, job.epoch, call('HGET', job.key, 'request_id') or '' }
    settle(job, 'WORKER_LOST', ARGV[i])
end
return { 'OK', lost }
