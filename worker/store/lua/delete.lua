-- kind(job, dataset, model or sweep) id tenant keep(1: the record can be restored; 0: it cannot)
-- Return the blob that has lost its last reference, or ''.
local kind, id, tenant, keep = unpack(ARGV)

if call('HGET', record_key(kind, id), 'tenant') ~= tenant then
    return { kind:upper() .. '_GONE' }
end

-- For each kind of record, return the error that prevents its deletion, if there is one.
local CHECKS = {}

function CHECKS.job()
    local job = read(id)
    return job.sweep ~= '' and 'JOB_OF_SWEEP' or not TERMINAL[job.state] and 'JOB_LIVE'
end

function CHECKS.sweep()
    local live = not TERMINAL[call('HGET', sweep_key(id), 'state')] or call('SCARD', sweep_key(id) .. ':live') > 0
    return live and 'SWEEP_LIVE'
end

function CHECKS.dataset()
    return dataset_in_use(id) and 'DATASET_IN_USE'
end

function CHECKS.model()
    for _, named in ipairs(call('HVALS', 'literati:aliases:' .. tenant)) do
        if named == id then
            return 'MODEL_IN_USE'
        end
    end
end

local error_code = CHECKS[kind]()
if error_code then
    return { error_code }
elseif keep == '1' then
    soft_delete(kind, id, tenant)
    return { 'OK', '' }
end
return { 'OK', delete_record(kind, id, tenant) }
