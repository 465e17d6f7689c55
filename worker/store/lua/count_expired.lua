-- what(jobs, searches, datasets, sweeps or deleted) age_ms
-- Return how many records `expire` would delete if it were repeated until the end.
local what, age = unpack(ARGV)

local before = string.format('%.0f', tonumber(now) - tonumber(age))
if what ~= 'datasets' then
    local index = ({
        jobs = ENDED, searches = ENDED_SEARCHES, sweeps = ENDED_SWEEPS, deleted = 'literati:deleted',
    })[what]
    return call('ZCOUNT', index, '-inf', before)
end
local unused = 0
for _, id in ipairs(call('ZRANGEBYSCORE', DATASETS_USED, '-inf', before)) do
    if call('SCARD', 'literati:dataset-live:' .. id) == 0 then
        unused = unused + 1
    end
end
return unused
