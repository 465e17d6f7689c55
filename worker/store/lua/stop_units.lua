-- id round(as in choose_sweep.lua) stop(1: no other units are tried) unit numbers that are dropped
local id, round, stop = unpack(ARGV, 1, 3)

local sweep = read_sweep(id)
if not sweep or not creates_jobs(sweep) or sweep.round ~= round then
    return { 'OK' }
end
for i = 4, #ARGV do
    drop_unit(sweep, ARGV[i])
end
sweep = read_sweep(id) -- the ends of jobs may have changed it
if stop == '1' and creates_jobs(sweep) then
    stop_and_choose(sweep, 'NO_IMPROVEMENT')
end
return { 'OK' }
