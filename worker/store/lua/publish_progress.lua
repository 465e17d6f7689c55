-- id epoch lease_ms checkpoint(JSON, numbers as text) tree metrics log
local id, epoch, lease_ms, given, tree, metrics, log = unpack(ARGV)

local job = read(id)
if not held_by(job, epoch) then
    return fenced('checkpoint')
end
given = cjson.decode(given)
lease(job, lease_ms)
if job.state == 'STARTING' then
    set_state(job, job.wish == '' and 'RUNNING' or 'STOPPING', '')
end
local replaced = merge(job, given, tree, metrics, log)
return { 'OK', job.wish, replaced }
