-- id tenant expected(the settings before the change) settings priority revision(that the sweep must have, or '')
-- expected_notes notes (each JSON, or '')
local id, tenant, expected, settings, priority, revision, expected_notes, notes = unpack(ARGV)

local sweep = read_sweep_of_tenant(id, tenant)
if not sweep then
    return { 'SWEEP_GONE' }
end

-- The jobs that wait move in the queue of the sweep, and the queue moves among those of the tenant.
local function change_priority()
    put(sweep, 'priority', priority)
    for _, child in ipairs(call('SMEMBERS', sweep.key .. ':live')) do
        local job = read(child)
        if job and not TERMINAL[job.state] then
            put(job, 'priority', priority)
            if job.state == 'QUEUED' then
                place_in_queue(job)
            end
            publish_change(job)
        end
    end
end

local found = call('HMGET', sweep.key, 'settings', 'notes')
local present, present_notes = found[1], found[2] or ''
if present ~= settings or present_notes ~= notes then
    if revision ~= '' and call('HGET', sweep.key, 'revision') ~= revision then
        return { 'PRECONDITION_FAILED' }
    elseif present ~= expected or present_notes ~= expected_notes then
        return { 'CHANGED_MEANWHILE' }
    end
    if priority ~= sweep.priority then
        change_priority()
    end
    call('HSET', sweep.key, 'settings', settings)
    if notes ~= present_notes then
        call('HSET', sweep.key, 'notes', notes)
    end
    publish_change(sweep)
end
return { 'OK', call('HGETALL', sweep.key) }
