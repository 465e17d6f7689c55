-- id stop(1: no other units are tried) unit numbers that are dropped
-- Return whether anything has changed.
local id, stop = unpack(ARGV, 1, 2)

local sweep = read_sweep(id)
if not sweep or not creates_jobs(sweep) then
    return { 'OK' }
end
for i = 3, #ARGV do
    call('SADD', sweep.key .. ':dropped', ARGV[i])
end
for _, child in ipairs(call('SMEMBERS', sweep.key .. ':live')) do
    local job = read(child)
    if job and job.wish == '' and call('SISMEMBER', sweep.key .. ':dropped', unit_of(job.place) or '') == 1 then
        if lease_is_valid(job) then
            put(job, 'wish', 'cancel')
            set_state(job, 'STOPPING', '')
        else
            cancel(job)
        end
    end
end
if stop == '1' and creates_jobs(read_sweep(id)) then
    stop_and_choose(read_sweep(id), 'NO_IMPROVEMENT')
end
return { 'OK' }
