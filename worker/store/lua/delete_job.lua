-- id tenant
local id, tenant = unpack(ARGV)

local job = read_of_tenant(id, tenant)
if not job then
    return { 'JOB_GONE' }
end
if not TERMINAL[job.state] then
    return { 'JOB_LIVE' }
end
for revision = 1, tonumber(job.incumbents) do
    call('DEL', job.key .. ':incumbent:' .. revision)
end
call('ZREM', 'literati:tenant-jobs:' .. tenant, id)
call('ZREM', state_index(job.state, tenant), id)
call('HINCRBY', 'literati:states', job.state, -1)
if job.idempotency ~= '' and call('HGET', job.idempotency, 'job') == id then
    call('DEL', job.idempotency)
end
local blob = drop_blob(job.blob)
call('DEL', job.key, job.key .. ':trace', job.key .. ':events')
call('PUBLISH', 'literati:changed', id)
return { 'OK', blob }
