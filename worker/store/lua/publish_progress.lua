-- id epoch lease_ms update(JSON, numbers as text) tree metrics log
local id, epoch, lease_ms, update, tree, metrics, log = unpack(ARGV)

local job = read(id)
if not has_lease(job, epoch) then
    return fenced('checkpoint')
end
update = cjson.decode(update)
lease(job, lease_ms)
if job.state == 'STARTING' then
    set_state(job, job.wish == '' and 'RUNNING' or 'STOPPING', '')
end
local replaced = apply_update(job, update, tree, metrics, log)
return { 'OK', job.wish, replaced }
