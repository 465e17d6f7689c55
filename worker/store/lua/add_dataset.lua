-- id tenant record summary content(digest) blob stored(bytes) max_datasets max_bytes (each a number or '')
local id, tenant, record, summary, content, blob, stored, max_datasets, max_bytes = unpack(ARGV)

local by_content = 'literati:dataset-content:' .. content
local known = call('GET', by_content)
local known_record = known and call('HGET', 'literati:dataset:' .. known, 'record')
if known_record then
    call('ZADD', DATASETS_USED, now, known)
    return { 'KNOWN', known_record }
end
if max_datasets ~= '' and call('ZCARD', 'literati:tenant-datasets:' .. tenant) >= tonumber(max_datasets) then
    return { 'LIMIT_REACHED', 'datasets' }
end
local bytes = tonumber(call('HGET', 'literati:dataset-bytes', tenant) or 0) + tonumber(stored)
if max_bytes ~= '' and bytes > tonumber(max_bytes) then
    return { 'LIMIT_REACHED', 'dataset_bytes' }
end
-- Deleted datasets that could still be restored are purged to make space.
while max_bytes ~= '' and bytes + tonumber(call('HGET', 'literati:deleted-bytes', tenant) or 0) > tonumber(max_bytes)
    and purge_oldest('dataset', tenant) do
end
local seq = call('INCR', 'literati:seq')
call('HSET', 'literati:dataset:' .. id, 'tenant', tenant, 'seq', seq, 'record', record, 'content', by_content,
    'blob', blob, 'stored', stored, 'summary', summary)
call('SET', by_content, id)
call('ZADD', 'literati:tenant-datasets:' .. tenant, seq, id)
call('ZADD', DATASETS_USED, now, id)
add_bytes('literati:dataset-bytes', tenant, tonumber(stored))
add_reference(blob)
return { 'ADDED', record }
