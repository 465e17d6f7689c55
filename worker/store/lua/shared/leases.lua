-- Leases: which worker has a job, and for how long.

-- Add to the number of cores that a tenant uses; `cores` may be negative.
local function use_cores(job, cores)
    if call('HINCRBY', RUNNING, job.tenant, cores) <= 0 then
        call('HDEL', RUNNING, job.tenant)
    end
end

local function lease_is_valid(job)
    return job.lease_until ~= '' and tonumber(job.lease_until) > tonumber(now)
end

local function lease(job, milliseconds)
    if job.lease_until == '' then
        use_cores(job, cores_of(job))
    end
    put(job, 'lease_until', string.format('%.0f', tonumber(now) + tonumber(milliseconds)))
    put(job, 'heartbeat_at', now)
    call('ZADD', LEASES, job.lease_until, job.id)
end

-- Take a job from its worker or out of its queue. From now on the worker's updates are rejected.
local function unassign(job)
    if job.lease_until ~= '' then
        put(job, 'lease_until', '')
        call('ZREM', LEASES, job.id)
        use_cores(job, -cores_of(job))
    end
    leave_queue(job)
end

local function has_lease(job, epoch)
    return job ~= nil and job.epoch == epoch and job.lease_until ~= ''
end

-- Reject the update of a worker that does not hold the job's lease. `what` is the label of a metric.
local function fenced(what)
    count('fenced:' .. what)
    return { 'FENCED' }
end
