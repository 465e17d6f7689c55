-- what(jobs, searches or datasets) age_ms most
-- Deletes the oldest of what was not used for so long. Returns how many were looked at: fewer than `most`, and
-- there are no more. What is in use is never deleted: it counts as used now.
local what, age, most = unpack(ARGV)

local index = ({ jobs = ENDED, searches = ENDED_SEARCHES, datasets = DATASETS_USED })[what]
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
        forget_dataset(id, tenant)
        gone = gone + 1
    end
end

local function expire_of_job(id)
    local job = read(id)
    if job and TERMINAL[job.state] then
        (what == 'jobs' and forget_job or forget_search)(job)
        gone = gone + 1
    else
        call('ZREM', index, id)
    end
end

for _, id in ipairs(found) do
    (what == 'datasets' and expire_dataset or expire_of_job)(id)
end
return { #found, gone }
