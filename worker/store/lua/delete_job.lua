-- id tenant
local id, tenant = unpack(ARGV)

local job = read_of_tenant(id, tenant)
if not job then
    return { 'JOB_GONE' }
end
if not TERMINAL[job.state] then
    return { 'JOB_LIVE' }
end
return { 'OK', forget_job(job) }
