-- id epoch lease_ms
local id, epoch, lease_ms = unpack(ARGV)

local job = read(id)
if not held_by(job, epoch) then
    return fenced('beat')
end
lease(job, lease_ms)
return { 'OK', job.wish }
