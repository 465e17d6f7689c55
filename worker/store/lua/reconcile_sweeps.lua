-- Advance sweeps whose jobs have ended without a successor, and stop those whose time is over. Return the sweeps that
-- wait for their choice, and errors: a sweep with an error must not prevent that others are advanced.

local function stop_overdue(id)
    local sweep = read_sweep(id)
    if sweep and sweep.state == 'RUNNING' then
        stop_and_choose(sweep, 'TIME_LIMIT')
    else
        call('ZREM', SWEEP_DEADLINES, id)
    end
end

local function advance(id)
    local sweep = read_sweep(id)
    if not sweep or TERMINAL[sweep.state] then
        call('SREM', SWEEPS_LIVE, id)
        return
    end
    for _, child in ipairs(call('SMEMBERS', sweep.key .. ':live')) do
        local job = read(child)
        if not job then
            call('SREM', sweep.key .. ':live', child)
        elseif TERMINAL[job.state] then -- a script failed after it had ended the job
            child_ended(job, job.state, call('HGET', job.key, 'error') or '')
        end
    end
    advance_sweep(read_sweep(id))
end

local faults = {}
local function try(action, ids)
    for _, id in ipairs(ids) do
        local done, fault = pcall(action, id)
        if not done then
            table.insert(faults, { id, type(fault) == 'table' and fault.err or tostring(fault) })
        end
    end
end

try(stop_overdue, call('ZRANGEBYSCORE', SWEEP_DEADLINES, '-inf', now, 'LIMIT', 0, 10))
try(advance, call('SMEMBERS', SWEEPS_LIVE))
return { 'OK', call('ZRANGE', SWEEPS_DUE, 0, 99), faults }
