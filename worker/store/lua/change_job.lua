-- id tenant expected(the settings before the change, or '' for an older record) settings priority
-- limits_changed(1 or 0) revision(that the job must have, or '') expected_notes notes (each JSON, or '')
local id, tenant, expected, settings, priority, limits_changed, revision, expected_notes, notes = unpack(ARGV)

local job = read_of_tenant(id, tenant)
if not job then
    return { 'JOB_GONE' }
end
if job.sweep ~= '' then
    return { 'JOB_OF_SWEEP' }
end
if job.archive ~= '' then
    return { 'ARCHIVED' }
end
local found = call('HMGET', job.key, 'settings', 'notes')
local present, present_notes = found[1] or '', found[2] or ''
if present ~= settings or present_notes ~= notes then
    if revision ~= '' and call('HGET', job.key, 'revision') ~= revision then
        return { 'PRECONDITION_FAILED' }
    elseif present ~= expected or present_notes ~= expected_notes then
        return { 'CHANGED_MEANWHILE' }
    elseif limits_changed == '1' and TERMINAL[job.state] then
        return { 'WRONG_STATE', job.state }
    end
    call('HSET', job.key, 'settings', settings)
    if notes ~= present_notes then
        call('HSET', job.key, 'notes', notes)
    end
    call('HINCRBY', job.key, 'limits_revision', limits_changed)
    if priority ~= job.priority then
        put(job, 'priority', priority)
        if job.state == 'QUEUED' then
            place_in_queue(job)
        end
    end
    publish_change(job)
end
return { 'OK', call('HGETALL', job.key) }
