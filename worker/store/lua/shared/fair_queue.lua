-- Whose turn it is. Stands after the prelude in `claim`.

local LOOKED_AT = 32 -- queued jobs of a group among which one is looked for that the worker can run
local KEPT_MS = 60000 -- how long a worker keeps cores free for a job without asking for work again

local function numbers(flat)
    local found = {}
    for i = 1, #flat, 2 do
        found[flat[i]] = tonumber(flat[i + 1])
    end
    return found
end

local function weight_of(group)
    return tonumber(call('HGET', WEIGHTS, group) or DEFAULT_WEIGHT)
end

-- The groups with queued jobs, in the order in which they may start one: by their turns, but those that have their share
-- of the cores in use come after those that have less. Else a group whose jobs are long would soon hold every core.
local function groups_in_order()
    local running, weights = numbers(call('HGETALL', RUNNING)), numbers(call('HGETALL', WEIGHTS))
    local queued = call('ZRANGE', TURNS, 0, -1)
    local cores, weight = 1, 0 -- with the core that is about to be used
    for group, used in pairs(running) do
        cores = cores + used
        weight = weight + (weights[group] or DEFAULT_WEIGHT)
    end
    for _, group in ipairs(queued) do
        if not running[group] then
            weight = weight + (weights[group] or DEFAULT_WEIGHT)
        end
    end
    local order, satisfied = {}, {}
    for _, group in ipairs(queued) do
        local share = cores * (weights[group] or DEFAULT_WEIGHT) / weight
        table.insert((running[group] or 0) < share and order or satisfied, group)
    end
    for _, group in ipairs(satisfied) do
        table.insert(order, group)
    end
    return order
end

-- A job that needs more cores than a worker has free must not wait until they happen to be free at the same time: the
-- worker keeps those that become free for it, and starts nothing else meanwhile.

local function kept_key(worker)
    return 'literati:kept-cores:' .. worker
end

local function keep_cores(job, worker)
    call('SET', kept_key(worker), job.id, 'PX', KEPT_MS)
    put(job, 'kept_by', worker)
end

local function kept_elsewhere(job, worker)
    return job.kept_by ~= '' and job.kept_by ~= worker and call('GET', kept_key(job.kept_by)) == job.id
end

-- The job that the worker keeps cores for, if it still waits.
local function kept_job(worker)
    local id = call('GET', kept_key(worker))
    local job = id and read(id)
    if job and job.state == 'QUEUED' and job.kept_by == worker then
        return job
    end
    call('DEL', kept_key(worker))
end

-- The job that a worker is to run or to keep its cores for; nil if there is none.
local function next_job(worker, free, all)
    local kept = kept_job(worker)
    if kept then
        return kept
    end
    for _, group in ipairs(groups_in_order()) do
        for _, member in ipairs(call('ZRANGE', queue_key(group), 0, LOOKED_AT - 1)) do
            local job = read(member:sub(17))
            if not (job and job.state == 'QUEUED') then
                leave_group(group, member) -- there is no such job any more, or it was damaged
            elseif cores_of(job) <= free or (cores_of(job) <= all and not kept_elsewhere(job, worker)) then
                return job
            end
        end
    end
end

-- Move the group's turn on for a job that is about to start.
local function take_turn(job)
    local group = group_of(job)
    local turn = math.max(virtual_time(), tonumber(call('ZSCORE', TURNS, group) or '0'))
    local next_turn = turn + cores_of(job) * DEFAULT_WEIGHT / weight_of(group)
    call('SET', VIRTUAL_TIME, string.format('%.17g', turn))
    call('ZADD', TURNS, string.format('%.17g', next_turn), group)
    call('ZREMRANGEBYSCORE', RESTED, '-inf', string.format('%.17g', turn)) -- these would begin at this time anyway
end
