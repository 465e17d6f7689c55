-- what(jobs, searches, datasets, sweeps or deleted) age_ms max_records
-- Delete the oldest records of at least this age. Return how many were examined, which is less than `max_records` only
-- if there are no more, and how many were deleted. A record in use is never deleted: it counts as used now.
local what, age, max_records = unpack(ARGV)

local index = ({
    jobs = ENDED, searches = ENDED_SEARCHES, datasets = DATASETS_USED, sweeps = ENDED_SWEEPS, deleted = DELETED,
})[what]
local before = string.format('%.0f', tonumber(now) - tonumber(age))
local found = call('ZRANGEBYSCORE', index, '-inf', before, 'LIMIT', 0, max_records)
local deleted = 0

local function expire_dataset(id)
    local tenant = call('HGET', 'literati:dataset:' .. id, 'tenant')
    if not tenant then
        call('ZREM', index, id)
    elseif dataset_in_use(id) then
        call('ZADD', index, now, id)
    else
        delete_record('dataset', id, tenant)
        deleted = deleted + 1
    end
end

local function expire_of_job(id)
    local job = read(id)
    if not (job and TERMINAL[job.state]) then
        call('ZREM', index, id)
        return
    elseif what == 'jobs' then
        delete_record('job', id, job.tenant)
    else
        delete_search(job)
    end
    deleted = deleted + 1
end

local function expire_sweep(id)
    local found = call('HMGET', sweep_key(id), 'tenant', 'state')
    if not found[1] or not TERMINAL[found[2]] then
        call('ZREM', index, id)
    elseif call('SCARD', sweep_key(id) .. ':live') > 0 then
        call('ZADD', index, now, id) -- its jobs have not stopped yet
    else
        delete_record('sweep', id, found[1])
        deleted = deleted + 1
    end
end

local function expire_deleted(member)
    purge(member:match('^(%a+) (.+)$'))
    deleted = deleted + 1
end

local EXPIRE = {
    jobs = expire_of_job, searches = expire_of_job, datasets = expire_dataset, sweeps = expire_sweep,
    deleted = expire_deleted,
}
for _, id in ipairs(found) do
    EXPIRE[what](id)
end
return { #found, deleted }
