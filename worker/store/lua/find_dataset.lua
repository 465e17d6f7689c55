-- tenant content(digest)
-- Finding a dataset by its content is a use of it, because a client uploads it again.
local tenant, content = unpack(ARGV)

local id = call('GET', 'literati:dataset-content:' .. content)
if not id or call('HGET', 'literati:dataset:' .. id, 'tenant') ~= tenant then
    return { 'DATASET_GONE' }
end
call('ZADD', DATASETS_USED, now, id)
return { 'OK', call('HGET', 'literati:dataset:' .. id, 'record') }
