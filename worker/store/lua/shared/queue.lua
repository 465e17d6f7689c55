-- The queues, ordered by priority. Every tenant has one for its single jobs and one for each of its sweeps;
-- `fair_queue.lua` chooses between tenants, and then between the queues of a tenant.
--
-- A tenant has a virtual start time. Starting a job increases it by the job's cores divided by the tenant's weight, so
-- a tenant of twice the weight starts twice as many jobs. A tenant without queued jobs neither gains nor loses: when
-- it comes back, its start time is the present virtual time, or its own if that is later.

local function queue_key(owner)
    return 'literati:queue:' .. owner
end

local function owners_key(tenant)
    return 'literati:queue-owners:' .. tenant -- the owners of a tenant's queues by their last turn
end

-- Return the owners of a tenant's queues: the tenant itself, and its sweeps that have not ended.
local function queue_owners(tenant)
    local owners = call('ZRANGE', owners_key(tenant), 0, -1)
    if not call('ZSCORE', owners_key(tenant), tenant) then
        table.insert(owners, 1, tenant) -- it has had no turn yet
    end
    return owners
end

local function queued_jobs(tenant)
    local queued = 0
    for _, owner in ipairs(queue_owners(tenant)) do
        queued = queued + call('ZCARD', queue_key(owner))
    end
    return queued
end

-- Return the cores that a job was given with its lease: one for each thread. An earlier version did not store threads.
local function cores_of(job)
    return tonumber(job.threads) or tonumber(job.cores) or 1
end

-- Members of equal score sort by text, so jobs of equal priority are in the order of submission.
local function queue_member(job)
    return string.format('%016.0f', tonumber(job.seq)) .. job.id
end

local function queued_single_jobs()
    local queued = call('ZCARD', WAITING)
    for _, id in ipairs(call('SMEMBERS', SWEEPS_LIVE)) do
        queued = queued - call('ZCARD', queue_key('sweep:' .. id))
    end
    return queued
end

local function virtual_time()
    return tonumber(call('GET', VIRTUAL_TIME) or '0') or 0
end

-- Put a job into its tenant's queue, at the place of its priority. A job that is queued already is moved.
local function place_in_queue(job)
    local tenant = job.tenant
    call('ZADD', queue_key(owner_of(job)), string.format('%.0f', -tonumber(job.priority)), queue_member(job))
    call('ZADD', owners_key(tenant), 'NX', 0, owner_of(job))
    if not call('ZSCORE', START_TIMES, tenant) then
        local start_time = math.max(virtual_time(), tonumber(call('ZSCORE', IDLE_START_TIMES, tenant) or '0'))
        call('ZREM', IDLE_START_TIMES, tenant)
        call('ZADD', START_TIMES, string.format('%.17g', start_time), tenant)
    end
end

local function enqueue(job, reason)
    put(job, 'queued_at', now)
    place_in_queue(job)
    call('ZADD', WAITING, now, job.id)
    set_state(job, 'QUEUED', reason)
end

-- Remove a member from a queue. A tenant whose queues are empty becomes idle.
local function remove_member(tenant, owner, member)
    call('ZREM', queue_key(owner), member)
    local start_time = call('ZSCORE', START_TIMES, tenant)
    start_time = start_time and queued_jobs(tenant) == 0 and start_time
    if start_time then
        call('ZADD', IDLE_START_TIMES, start_time, tenant)
        call('ZREM', START_TIMES, tenant)
        call('DEL', owners_key(tenant))
    end
end

local function leave_queue(job)
    call('ZREM', WAITING, job.id)
    remove_member(job.tenant, owner_of(job), queue_member(job))
end
