-- id tenant record content(digest) blob
local id, tenant, record, content, blob = unpack(ARGV)

local by_content = 'literati:dataset-content:' .. content
local known = call('GET', by_content)
if known then
    return { 'KNOWN', call('HGET', 'literati:dataset:' .. known, 'record') }
end
local seq = call('INCR', 'literati:seq')
call('HSET', 'literati:dataset:' .. id, 'tenant', tenant, 'seq', seq, 'record', record, 'content', by_content,
    'blob', blob)
call('SET', by_content, id)
call('ZADD', 'literati:tenant-datasets:' .. tenant, seq, id)
hold_blob(blob)
return { 'ADDED', record }
