-- what(jobs, searches, datasets or deleted) age_ms most
-- Deletes the oldest of what was not used for so long. Returns how many were looked at: fewer than `most`, and
-- there are no more. What is in use is never deleted: it counts as used now.
local what, age, most = unpack(ARGV)

local index = ({ jobs = ENDED, searches = ENDED_SEARCHES, datasets = DATASETS_USED, deleted = DELETED })[what]
local before = string.format('%.0f', tonumber(now) - tonumber(age))
local found = call('ZRANGEBYSCORE', index, '-inf', before, 'LIMIT', 0, most)
local gone = 0

local function expire_dataset(id)
    local tenant = call('HGET', 'literati:dataset:' .. id, 'tenant')
    if not tenant then
        call('ZREM', index, id)
    elseif dataset_in_use(id) then
        call('ZADD', index, now, id)
    else
        forget('dataset', id, tenant)
        gone = gone + 1
    end
end

local function expire_of_job(id)
    local job = read(id)
    if not (job and TERMINAL[job.state]) then
        call('ZREM', index, id)
        return
    elseif what == 'jobs' then
        forget('job', id, job.tenant)
    else
        forget_search(job)
    end
    gone = gone + 1
end

local function expire_deleted(member)
    purge(member:match('^(%a+) (.+)$'))
    gone = gone + 1
end

local EXPIRE = { jobs = expire_of_job, searches = expire_of_job, datasets = expire_dataset, deleted = expire_deleted }
for _, id in ipairs(found) do
    EXPIRE[what](id)
end
return { #found, gone }
