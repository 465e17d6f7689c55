-- id tenant action model_id revision(of the tree to finish with, or '') max_models(or '')
local id, tenant, action, model_id, revision, max_models = unpack(ARGV)

local job = read_of_tenant(id, tenant)
if not job then
    return { 'JOB_GONE' }
end

if job.sweep ~= '' then
    return { 'JOB_OF_SWEEP' }
end

if job.archive ~= '' and revision ~= '' then
    return { 'ARCHIVED' }
end

local function answer(status)
    return { status, call('HGETALL', job.key) }
end

local function wrong_state(why)
    return { 'WRONG_STATE', job.state, why }
end

-- Leave a request for the worker, which then ends or pauses the job.
local function request(action, state)
    put(job, 'wish', action)
    set_state(job, state, '')
end

local ACTIONS = {}

function ACTIONS.cancel()
    if job.state == 'CANCELLED' or job.wish == 'cancel' then
        return answer('REPEATED')
    elseif TERMINAL[job.state] or job.state == 'STOPPING' then
        return wrong_state('')
    elseif lease_is_valid(job) then
        request('cancel', 'STOPPING')
    else
        cancel(job)
    end
end

-- Return the model that an ended job has of this tree, or make one. It becomes the job's model.
local function model_of_ended_job()
    local known = model_of_tree(job, revision)
    if known then
        if known ~= job.model_id then
            put(job, 'model_id', known)
            put(job, 'model_revision', revision)
            publish_change(job)
        end
        return answer('REPEATED')
    end
    if has_max_models(tenant, max_models) then
        return { 'LIMIT_REACHED', 'models' }
    end
    local model = read_chosen_model(job, revision)
    put(job, 'chosen', revision)
    make_model(job, model_id, model, revision)
    publish_change(job)
    return answer('MADE')
end

function ACTIONS.finish()
    if revision ~= '' and call('EXISTS', job.key .. ':incumbent:' .. revision) == 0 then
        return { 'REVISION_GONE' }
    elseif revision ~= '' and TERMINAL[job.state] then
        return model_of_ended_job()
    elseif job.wish == 'finish' and revision ~= '' and revision ~= job.chosen then
        put(job, 'chosen', revision)
        publish_change(job)
        return
    elseif job.wish == 'finish' or (job.state == 'SUCCEEDED' and job.asked == 'finish') then
        return answer('REPEATED')
    elseif TERMINAL[job.state] or job.state == 'STOPPING' then
        return wrong_state('')
    end
    put(job, 'chosen', revision)
    if lease_is_valid(job) then
        request('finish', 'STOPPING')
    elseif has_tree(job) then
        finish_with_stored_tree(job, model_id)
    else
        return wrong_state('NO_TREE')
    end
end

function ACTIONS.pause()
    if job.state == 'PAUSING' or job.state == 'PAUSED' then
        return answer('REPEATED')
    elseif TERMINAL[job.state] or job.wish ~= '' then
        return wrong_state('')
    elseif lease_is_valid(job) then
        request('pause', 'PAUSING')
    else
        pause(job, '')
    end
end

function ACTIONS.resume()
    if job.state == 'PAUSED' then
        enqueue(job, 'RESUMED')
    elseif job.asked == 'resume' and (job.state == 'QUEUED' or job.state == 'STARTING' or job.state == 'RUNNING') then
        return answer('REPEATED')
    else
        return wrong_state('')
    end
end

-- A worker whose lease has run out no longer has the job.
if job.lease_until ~= '' and not lease_is_valid(job) then
    end_or_requeue(job, 'WORKER_LOST', model_id)
end
local result = ACTIONS[action]()
if result then
    return result
end
put(job, 'asked', action)
return answer('DONE')
