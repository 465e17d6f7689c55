-- worker lease_ms max_stalls error main_process free_cores all_cores
-- `worker` is the child process that asks for a job; `main_process` is its parent, to which the cores belong.
local worker, lease_ms, max_stalls, failure, main_process, free, all = unpack(ARGV)
free, all = tonumber(free), tonumber(all)
if free < 1 then
    return { 'NONE' }
end

-- A job that has killed its worker too often is failed here, and the search for a job continues.
while true do
    local job = next_job(main_process, free, all)
    if not job then
        return { 'NONE' }
    end
    local stalls = 1
    if tonumber(job.expansions) <= tonumber(job.claim_expansions) then
        stalls = tonumber(job.stalls) + 1
    end
    if stalls > tonumber(max_stalls) then
        end_job(job, 'FAILED', 'WORKER_LOST', '0', failure, '')
    elseif cores_needed(job, all) > free then
        reserve_cores(job, main_process)
        return { 'NONE' }
    else
        put(job, 'threads', string.format('%.0f', cores_needed(job, all)))
        advance_start_time(job)
        take_turn(job)
        unassign(job)
        -- Workers of the time after a restored backup may still run and must not have the same epoch.
        local min_epoch = tonumber(call('GET', MIN_EPOCH) or '0')
        put(job, 'epoch', string.format('%.0f', math.max(tonumber(job.epoch) + 1, min_epoch)))
        put(job, 'stalls', tostring(stalls))
        put(job, 'claim_expansions', job.expansions)
        put(job, 'worker', worker)
        call('HINCRBY', job.key, 'attempts', 1)
        call('HSETNX', job.key, 'started_at', now)
        lease(job, lease_ms)
        set_state(job, 'STARTING', '')
        child_started(job)
        return { 'CLAIMED', call('HGETALL', job.key) }
    end
end
