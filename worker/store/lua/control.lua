-- id tenant verb model_id revision(of the tree to finish with, or '') most_models(or '')
local id, tenant, verb, model_id, revision, most_models = unpack(ARGV)

local job = read_of_tenant(id, tenant)
if not job then
    return { 'JOB_GONE' }
end

local function answer(word)
    return { word, call('HGETALL', job.key) }
end

local function wrong(why)
    return { 'WRONG_STATE', job.state, why }
end

-- To the worker if there is one, which makes it so and then ends or pauses the job.
local function wish(word, state)
    put(job, 'wish', word)
    set_state(job, state, '')
end

local VERBS = {}

function VERBS.cancel()
    if job.state == 'CANCELLED' or job.wish == 'cancel' then
        return answer('REPEATED')
    elseif TERMINAL[job.state] or job.state == 'STOPPING' then
        return wrong('')
    elseif lease_live(job) then
        wish('cancel', 'STOPPING')
    else
        cancel(job)
    end
end

-- The model that an ended job has of this tree, or a new one. It is the job's model from now on.
local function make_another()
    local known = call('HGET', job.key .. ':models', revision)
    if not known and call('HGET', 'literati:model:' .. job.model_id, 'incumbent') == revision then
        known = job.model_id -- of an older version, which kept no list
    end
    if known and call('HGET', 'literati:model:' .. known, 'tenant') == tenant then
        if known ~= job.model_id then
            put(job, 'model_id', known)
            put(job, 'model_revision', revision)
            changed(job)
        end
        return answer('REPEATED')
    end
    local models = call('ZCARD', 'literati:tenant-models:' .. tenant) + live_jobs(tenant)
    if most_models ~= '' and models >= tonumber(most_models) then
        return { 'LIMIT_REACHED', 'models' }
    end
    job.chosen = revision
    local model = read_model(job, 'USER_FINISH', is_proven(job, job.objective))
    put(job, 'chosen', revision)
    make_model(job, model_id, model, revision)
    changed(job)
    return answer('MADE')
end

function VERBS.finish()
    if revision ~= '' and call('EXISTS', job.key .. ':incumbent:' .. revision) == 0 then
        return { 'REVISION_GONE' }
    elseif revision ~= '' and TERMINAL[job.state] then
        return make_another()
    elseif job.wish == 'finish' and revision ~= '' and revision ~= job.chosen then
        put(job, 'chosen', revision)
        changed(job)
        return
    elseif job.wish == 'finish' or (job.state == 'SUCCEEDED' and job.asked == 'finish') then
        return answer('REPEATED')
    elseif TERMINAL[job.state] or job.state == 'STOPPING' then
        return wrong('')
    end
    put(job, 'chosen', revision)
    if lease_live(job) then
        wish('finish', 'STOPPING')
    elseif has_tree(job) then
        finish_with_stored_tree(job, model_id)
    else
        return wrong('NO_TREE')
    end
end

function VERBS.pause()
    if job.state == 'PAUSING' or job.state == 'PAUSED' then
        return answer('REPEATED')
    elseif TERMINAL[job.state] or job.wish ~= '' then
        return wrong('')
    elseif lease_live(job) then
        wish('pause', 'PAUSING')
    else
        pause(job, '')
    end
end

function VERBS.resume()
    if job.state == 'PAUSED' then
        enqueue(job, 'RESUMED')
    elseif job.asked == 'resume' and (job.state == 'QUEUED' or job.state == 'STARTING' or job.state == 'RUNNING') then
        return answer('REPEATED')
    else
        return wrong('')
    end
end

-- A worker that let its lease run out is not asked any more.
if job.lease_until ~= '' and not lease_live(job) then
    settle(job, 'WORKER_LOST', model_id)
end
local refusal = VERBS[verb]()
if refusal then
    return refusal
end
put(job, 'asked', verb)
return answer('DONE')
