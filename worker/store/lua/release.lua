-- id epoch model_id
local id, epoch, model_id = unpack(ARGV)

local job = read(id)
if job and job.ended_epoch == epoch then
    return { 'OK' } -- this call is a repetition
end
if not has_lease(job, epoch) then
    return fenced('release')
end
put(job, 'stalls', tostring(math.max(0, tonumber(job.stalls) - 1))) -- the worker did not fail on the job
end_or_requeue(job, 'WORKER_STOPPED', model_id)
put(job, 'ended_epoch', epoch)
return { 'OK' }
