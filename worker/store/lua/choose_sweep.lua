-- id round(which the sweep had when its results were read) choice(JSON) error(JSON or '')
-- refit(a job as in submit_sweep.lua, or '')
-- Store what was chosen and create the last job, or end the sweep. Repeating this does nothing.
local id, round, choice, failure, refit = unpack(ARGV)

local sweep = read_sweep(id)
if not sweep or sweep.state ~= 'CHOOSING' or sweep.round ~= round then
    return { 'OK', 0 }
end
if failure ~= '' then
    end_sweep(sweep, 'FAILED', sweep.stop_reason, failure, '')
    return { 'OK', 0 }
end
put(sweep, 'choice', choice)
if refit == '' then
    end_sweep(sweep, 'SUCCEEDED', sweep.stop_reason, '', '')
    return { 'OK', 0 }
end
put(sweep, 'refit_job', cjson.decode(refit)[1])
set_sweep_state(sweep, 'REFITTING', '')
create_child(sweep, refit)
return { 'OK', 1 }
