-- id epoch model_id
local id, epoch, model_id = unpack(ARGV)

local job = read(id)
if job and job.ended_epoch == epoch then
    return { 'OK' } -- said before
end
if not held_by(job, epoch) then
    return fenced('release')
end
put(job, 'stalls', tostring(math.max(0, tonumber(job.stalls) - 1))) -- this try ended in peace
settle(job, 'WORKER_STOPPED', model_id)
put(job, 'ended_epoch', epoch)
return { 'OK' }
