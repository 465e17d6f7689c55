-- model ids, one for each job that may be handled
local FORMAT, OLD_QUEUE = '2', 'literati:queue'
local MAX_LEASE_MS = 2 * 3600 * 1000

-- A store of the first format has one queue for all tenants and does not count the cores in use.
if call('GET', 'literati:format') ~= FORMAT then
    for _, member in ipairs(call('ZRANGE', OLD_QUEUE, 0, -1)) do
        local job = read(member:sub(17))
        if job and job.state == 'QUEUED' then
            place_in_queue(job)
        end
    end
    call('DEL', OLD_QUEUE, RUNNING)
    for _, id in ipairs(call('ZRANGE', LEASES, 0, -1)) do
        local job = read(id)
        if job and job.lease_until ~= '' then
            use_cores(job, cores_of(job))
        end
    end
    call('SET', 'literati:format', FORMAT)
end

count('reconciler_rounds')
local handled, faults = {}, {}

-- An error on one job must not prevent that the others are handled.
local function handle(id, what, model_id)
    local job = read(id)
    if job and is_active(job.state) then
        local request_id = call('HGET', job.key, 'request_id') or ''
        if job.stop_reason ~= '' then -- a script failed while it ended the job
            put(job, 'stop_reason', '')
            call('HDEL', job.key, 'proven_optimal', 'error', 'finished_at')
        end
        end_or_requeue(job, 'WORKER_LOST', model_id)
        table.insert(handled, { id, job.epoch, request_id, what })
    else
        call('ZREM', LEASES, id)
        call('ZREM', ACTIVE, id)
    end
end

local function try_to_handle(ids, what)
    for _, id in ipairs(ids) do
        local model_id = ARGV[#handled + #faults + 1]
        if not model_id then
            return
        end
        local done, fault = pcall(handle, id, what, model_id)
        if not done then
            table.insert(faults, { id, type(fault) == 'table' and fault.err or tostring(fault) })
        end
    end
end

try_to_handle(call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, #ARGV), 'the lease of a job ran out')

-- No lease is longer than an hour (LITERATI_LEASE_SECONDS). If one is, the clock was set back, and a job whose worker is
-- lost would wait for the old time to come.
local too_late = string.format('%.0f', tonumber(now) + MAX_LEASE_MS)
try_to_handle(call('ZRANGEBYSCORE', LEASES, too_late, '+inf', 'LIMIT', 0, #ARGV), 'the clock of the store was set back')

-- A script that failed may have left an active job in no queue and without a lease. Comparing the counts is cheap; only
-- if they differ, the jobs themselves are compared.
local function active_is_complete()
    return call('ZCARD', ACTIVE) == call('ZCARD', WAITING) + call('ZCARD', LEASES)
end

if not active_is_complete() then
    try_to_handle(call('ZDIFF', 3, ACTIVE, WAITING, LEASES), 'a job was neither queued nor leased')
    if not active_is_complete() then -- jobs of a version without this set
        call('ZUNIONSTORE', ACTIVE, 3, ACTIVE, WAITING, LEASES, 'AGGREGATE', 'MIN')
    end
end
return { 'OK', handled, faults }
