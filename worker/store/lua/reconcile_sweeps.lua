-- Advance sweeps whose jobs have ended without a successor, and stop those whose time is over. Return the sweeps that
-- wait for their choice.
for _, id in ipairs(call('ZRANGEBYSCORE', SWEEP_DEADLINES, '-inf', now, 'LIMIT', 0, 10)) do
    local sweep = read_sweep(id)
    if sweep and sweep.state == 'RUNNING' then
        stop_and_choose(sweep, 'TIME_LIMIT')
    else
        call('ZREM', SWEEP_DEADLINES, id)
    end
end
for _, id in ipairs(call('SMEMBERS', SWEEPS_LIVE)) do
    local sweep = read_sweep(id)
    if not sweep or TERMINAL[sweep.state] then
        call('SREM', SWEEPS_LIVE, id)
    else
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
end
return { 'OK', call('ZRANGE', SWEEPS_DUE, 0, 99) }
