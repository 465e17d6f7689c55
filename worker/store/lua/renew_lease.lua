-- id epoch lease_ms
local id, epoch, lease_ms = unpack(ARGV)

local job = read(id)
if not has_lease(job, epoch) then
    return fenced('beat') -- the label of a metric, as in the other scripts
end
lease(job, lease_ms)
return { 'OK', job.wish }
