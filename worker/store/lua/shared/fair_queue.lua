-- Choose the next job for a worker. `claim` uses this.

local MAX_SCANNED = 32 -- queued jobs of a tenant among which one is searched that the worker can run
local RESERVATION_MS = 60000 -- how long a worker reserves cores for a job without asking for work again

local function to_numbers(flat)
    local found = {}
    for i = 1, #flat, 2 do
        found[flat[i]] = tonumber(flat[i + 1])
    end
    return found
end

-- Return the tenants with queued jobs in the order in which they may start one: by virtual start time, but tenants that
-- use their share of the cores come last. Otherwise a tenant whose jobs are long would soon use every core.
local function tenants_in_order()
    local running, weights = to_numbers(call('HGETALL', RUNNING)), to_numbers(call('HGETALL', WEIGHTS))
    local queued = call('ZRANGE', START_TIMES, 0, -1)
    local cores, weight = 1, 0 -- including the core that the next job will use
    for tenant, used in pairs(running) do
        cores = cores + used
        weight = weight + (weights[tenant] or DEFAULT_WEIGHT)
    end
    for _, tenant in ipairs(queued) do
        if not running[tenant] then
            weight = weight + (weights[tenant] or DEFAULT_WEIGHT)
        end
    end
    local order, satisfied = {}, {}
    for _, tenant in ipairs(queued) do
        local share = cores * (weights[tenant] or DEFAULT_WEIGHT) / weight
        table.insert((running[tenant] or 0) < share and order or satisfied, tenant)
    end
    for _, tenant in ipairs(satisfied) do
        table.insert(order, tenant)
    end
    return order
end

-- Return the cores of the largest worker that is alive.
local function largest_worker()
    local largest = 0
    for _, worker in ipairs(call('ZRANGEBYSCORE', WORKERS, now, '+inf')) do
        largest = math.max(largest, tonumber(worker:match(' (%d+)$')) or 0)
    end
    return largest
end

-- Return the cores that a job needs on a worker of `all` cores; more than `all` if a larger worker is to run it. No
-- job needs more than the largest worker has, so that each can run somewhere. A wish of -1 means all cores of a worker.
local function cores_needed(job, all)
    local wanted = tonumber(job.cores) or 1
    if wanted < 0 then
        return math.min(all, MAX_THREADS)
    elseif wanted <= all then
        return wanted
    end
    return math.min(wanted, math.max(all, largest_worker()))
end

-- A job may need more cores than a worker has free. The worker then reserves the cores that become free for this job,
-- and starts nothing else meanwhile. The stored names say `kept` for reserved.

local function reservation_key(worker)
    return 'literati:kept-cores:' .. worker
end

local function reserve_cores(job, worker)
    call('SET', reservation_key(worker), job.id, 'PX', RESERVATION_MS)
    put(job, 'kept_by', worker)
end

local function is_reserved_elsewhere(job, worker)
    return job.kept_by ~= '' and job.kept_by ~= worker and call('GET', reservation_key(job.kept_by)) == job.id
end

-- Return the job for which the worker reserves cores, if it is still queued and no larger worker is to run it.
local function reserved_job(worker, all)
    local id = call('GET', reservation_key(worker))
    local job = id and read(id)
    if job and job.state == 'QUEUED' and job.kept_by == worker and cores_needed(job, all) <= all then
        return job
    end
    call('DEL', reservation_key(worker))
end

-- Return the owners of a tenant's queues in the order in which they may start a job: by the priority of their first
-- job, and of equal ones the queue whose last turn is longest ago. So a single job does not wait behind a long sweep.
local function owners_in_order(tenant)
    local owners = {}
    for turn, owner in ipairs(queue_owners(tenant)) do
        local first = call('ZRANGE', queue_key(owner), 0, 0, 'WITHSCORES')
        if first[2] then
            table.insert(owners, { owner = owner, rank = tonumber(first[2]), turn = turn })
        end
    end
    table.sort(owners, function(a, b)
        if a.rank ~= b.rank then
            return a.rank < b.rank
        end
        return a.turn < b.turn
    end)
    return owners
end

-- Put the queue of a job that is about to start behind the tenant's other queues.
local function take_turn(job)
    call('ZADD', owners_key(job.tenant), call('INCR', 'literati:seq'), owner_of(job))
end

-- Return a queued job of an owner that the worker is to run or to reserve cores for; nil if there is none.
local function next_job_of(tenant, owner, worker, free, all)
    for _, member in ipairs(call('ZRANGE', queue_key(owner), 0, MAX_SCANNED - 1)) do
        local job = read(member:sub(17))
        if not (job and job.state == 'QUEUED') then
            remove_member(tenant, owner, member) -- the job was deleted, or it was damaged
        else
            local needed = cores_needed(job, all)
            if needed <= free or (needed <= all and not is_reserved_elsewhere(job, worker)) then
                return job
            end
        end
    end
end

-- Return the job that a worker is to run or to reserve cores for; nil if there is none.
local function next_job(worker, free, all)
    local reserved = reserved_job(worker, all)
    if reserved then
        return reserved
    end
    for _, tenant in ipairs(tenants_in_order()) do
        for _, queue in ipairs(owners_in_order(tenant)) do
            local job = next_job_of(tenant, queue.owner, worker, free, all)
            if job then
                return job
            end
        end
    end
end

-- Increase the tenant's virtual start time for a job that is about to start.
local function advance_start_time(job)
    local tenant = job.tenant
    local start_time = math.max(virtual_time(), tonumber(call('ZSCORE', START_TIMES, tenant) or '0'))
    local weight = tonumber(call('HGET', WEIGHTS, tenant) or DEFAULT_WEIGHT)
    local next_start_time = start_time + cores_of(job) * DEFAULT_WEIGHT / weight
    call('SET', VIRTUAL_TIME, string.format('%.17g', start_time))
    call('ZADD', START_TIMES, string.format('%.17g', next_start_time), tenant)
    -- Idle tenants up to this time would start at the virtual time anyway.
    call('ZREMRANGEBYSCORE', IDLE_START_TIMES, '-inf', string.format('%.17g', start_time))
end
