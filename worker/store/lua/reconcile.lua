-- model ids, one for each job that may be settled
count('reconciler_rounds')
local lost = {}
for i, id in ipairs(call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, #ARGV)) do
    local job = read(id)
    lost[i] = { id, job.epoch, call('HGET', job.key, 'request_id') or '' }
    settle(job, 'WORKER_LOST', ARGV[i])
end
return { 'OK', lost }
