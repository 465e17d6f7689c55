-- id tenant expected(the settings before the change) settings priority revision(that the sweep must have, or '')
local id, tenant, expected, settings, priority, revision = unpack(ARGV)

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

local present = call('HGET', sweep.key, 'settings')
if present ~= settings then
    if revision ~= '' and call('HGET', sweep.key, 'revision') ~= revision then
        return { 'PRECONDITION_FAILED' }
    elseif present ~= expected then
        return { 'CHANGED_MEANWHILE' }
    end
    if priority ~= sweep.priority then
        change_priority()
    end
    call('HSET', sweep.key, 'settings', settings)
    publish_change(sweep)
end
return { 'OK', call('HGETALL', sweep.key) }
