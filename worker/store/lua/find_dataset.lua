-- tenant content(digest)
-- To find it by its content is to use it: who uploads it again wants it.
local tenant, content = unpack(ARGV)

local id = call('GET', 'literati:dataset-content:' .. content)
if not id or call('HGET', 'literati:dataset:' .. id, 'tenant') ~= tenant then
    return { 'DATASET_GONE' }
end
call('ZADD', DATASETS_USED, now, id)
return { 'OK', call('HGET', 'literati:dataset:' .. id, 'record') }
