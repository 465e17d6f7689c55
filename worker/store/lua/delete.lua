-- kind(job, dataset or model) id tenant keep(1: it can be restored; 0: it goes for good)
-- Returns the blob that nobody refers to any more, or ''.
local kind, id, tenant, keep = unpack(ARGV)

if call('HGET', record_key(kind, id), 'tenant') ~= tenant then
    return { kind:upper() .. '_GONE' }
end

local REFUSALS = {}

function REFUSALS.job()
    return not TERMINAL[read(id).state] and 'JOB_LIVE'
end

function REFUSALS.dataset()
    return dataset_in_use(id) and 'DATASET_IN_USE'
end

function REFUSALS.model()
    for _, named in ipairs(call('HVALS', 'literati:aliases:' .. tenant)) do
        if named == id then
            return 'MODEL_IN_USE'
        end
    end
end

local refusal = REFUSALS[kind]()
if refusal then
    return { refusal }
elseif keep == '1' then
    put_aside(kind, id, tenant)
    return { 'OK', '' }
end
return { 'OK', forget(kind, id, tenant) }
