-- job_id tenant model_id(which also identifies the call: a repetition has the same) revision max_models(or '')
-- Make a model of a tree. Nothing else of the job changes, not even its own model.
local job_id, tenant, model_id, revision, max_models = unpack(ARGV)

local job = read_of_tenant(job_id, tenant)
if not job then
    return { 'JOB_GONE' }
elseif job.archive ~= '' then
    return { 'ARCHIVED' }
elseif call('EXISTS', job.key .. ':incumbent:' .. revision) == 0 then
    return { 'REVISION_GONE' }
end
local known = model_of_tree(job, revision)
if known then
    return { known == model_id and 'MADE' or 'KNOWN', known }
elseif has_max_models(tenant, max_models) then
    return { 'LIMIT_REACHED', 'models' }
end
add_model(job, model_id, read_chosen_model(job, revision), revision)
return { 'MADE', model_id }
