-- worker lease_ms max_stalls error
local worker, lease_ms, max_stalls, failure = unpack(ARGV)

-- Jobs that kill their workers end here, so this looks on until it finds one to run.
while true do
    local first = (call('ZRANGE', QUEUE, 0, 0))[1]
    if not first then
        return { 'NONE' }
    end
    local job = read(first:sub(17))
    local stalls = 1
    if tonumber(job.expansions) <= tonumber(job.claim_expansions) then
        stalls = tonumber(job.stalls) + 1
    end
    if stalls > tonumber(max_stalls) then
        end_job(job, 'FAILED', 'WORKER_LOST', '0', failure, '')
    else
        detach(job)
        put(job, 'epoch', tostring(tonumber(job.epoch) + 1))
        put(job, 'stalls', tostring(stalls))
        put(job, 'claim_expansions', job.expansions)
        put(job, 'worker', worker)
        call('HINCRBY', job.key, 'attempts', 1)
        call('HSETNX', job.key, 'started_at', now)
        lease(job, lease_ms)
        set_state(job, 'STARTING', '')
        return { 'CLAIMED', call('HGETALL', job.key) }
    end
end
