-- Make a model of a job's tree.

-- Equal bounds are a proof, unless they are about a space that the search is to widen.
local function bounds_are_equal(job)
    local lower, upper = tonumber(job.lower), tonumber(job.upper)
    return lower and upper and lower >= upper and job.last_stage ~= '0'
end

-- A tree is proven optimal when the bounds are equal and it costs no more than they say.
local function is_proven(job, objective)
    return bounds_are_equal(job) and tonumber(objective) <= tonumber(job.lower) and '1' or '0'
end

-- Return the fields of a model: the best tree as it was found, or as its worker described it again at the end. If
-- `finish` chose an earlier tree that is still kept, the model has that one, and its upper bound is the tree's cost.
local function read_model(job, stop_reason, proven)
    local revision, objective, upper = job.incumbents, job.objective, job.upper
    local found = job.final_tree
    local earlier = job.chosen ~= '' and job.chosen ~= revision
        and call('HGET', job.key .. ':incumbent:' .. job.chosen, 'objective')
    if earlier then
        revision, found, objective = job.chosen, nil, earlier
        upper = tonumber(objective) > (tonumber(upper) or 0) and objective or upper
        proven = is_proven(job, objective)
        stop_reason = 'USER_FINISH'
    end
    if proven == '1' then
        stop_reason = 'PROVEN_OPTIMAL'
    end
    found = found or call('HMGET', job.key .. ':incumbent:' .. revision, 'tree', 'metrics', 'scores', 'tree_stage')
    local fields = {
        'tenant', job.tenant, 'job', job.id, 'incumbent', revision, 'spec', call('HGET', job.key, 'spec'),
        'settings', call('HGET', job.key, 'settings') or '', 'objective', objective, 'upper', upper,
        'lower', job.lower, 'proven_optimal', proven, 'stop_reason', stop_reason, 'tree', found[1],
        'metrics', found[2], 'scores', found[3] or '', 'created_at', now, 'explored', job.explored,
        'stage', job.stage, 'tree_stage', found[4] or '', 'space', job.space, 'proven_space', job.proven_space,
    }
    for i = 2, #fields, 2 do
        if not fields[i] then
            error('job ' .. job.id .. ' has no ' .. fields[i - 1] .. ' for a model')
        end
    end
    return fields, revision
end

-- Return the model that a job has of a tree; nil if there is none.
local function model_of_tree(job, revision)
    local known = call('HGET', job.key .. ':models', revision)
    if not known and call('HGET', 'literati:model:' .. job.model_id, 'incumbent') == revision then
        known = job.model_id -- made by an older version, which kept no list
    end
    return known and call('HGET', 'literati:model:' .. known, 'tenant') == job.tenant and known or nil
end

-- Every job and sweep that has not ended may still make a model.
local function has_max_models(tenant, max_models)
    local models = call('ZCARD', 'literati:tenant-models:' .. tenant) + live_jobs(tenant)
    return max_models ~= '' and models >= tonumber(max_models)
end

-- Return the fields of a model of any tree of a job that is kept.
local function read_chosen_model(job, revision)
    local chosen = job.chosen
    job.chosen = revision
    local fields = read_model(job, 'USER_FINISH', is_proven(job, job.objective))
    job.chosen = chosen
    return fields
end

local function add_model(job, id, fields, revision)
    local seq = call('INCR', 'literati:seq')
    call('HSET', 'literati:model:' .. id, 'seq', seq, unpack(fields))
    call('ZADD', 'literati:tenant-models:' .. job.tenant, seq, id)
    call('ZADD', ARCHIVABLE, now, id)
    call('HSET', job.key .. ':models', revision, id)
end

-- Add a model that becomes the job's model.
local function make_model(job, id, fields, revision)
    add_model(job, id, fields, revision)
    put(job, 'model_id', id)
    put(job, 'model_revision', revision)
end
