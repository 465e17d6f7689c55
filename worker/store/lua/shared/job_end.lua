-- End or pause a job, or queue it again when its worker has gone.

-- A job of a sweep makes no model, except for the last one, which fits the chosen parameters to all rows.
local function makes_model(job)
    return job.sweep == '' or job.place == 'refit'
end

-- Every job that ends does so here. `proven` is '1' or '0'. Equal bounds are a proof, whatever stopped the search. The
-- search snapshot stays, because another job may start from it.
local function end_job(job, state, stop_reason, proven, failure, model_id)
    local model, revision
    if state == 'SUCCEEDED' and has_tree(job) then
        if bounds_are_equal(job) then
            stop_reason, proven = 'PROVEN_OPTIMAL', '1'
        end
    end
    if state == 'SUCCEEDED' and makes_model(job) then
        model, revision = read_model(job, stop_reason, proven)
        model_id = job.model_id ~= '' and job.model_id or model_id -- of a script that failed before it ended the job
    end
    unassign(job)
    if model then
        make_model(job, model_id, model, revision)
    end
    put(job, 'stop_reason', stop_reason)
    put(job, 'proven_optimal', proven)
    put(job, 'error', failure)
    put(job, 'finished_at', now)
    call('ZADD', ARCHIVABLE, now, job.id)
    if job.sweep == '' then
        call('ZADD', ENDED, now, job.id)
        if job.blob ~= '' then
            call('ZADD', ENDED_SEARCHES, now, job.id)
        end
    elseif has_tree(job) and job.blob ~= '' then -- no other job starts from its search
        remove_reference(job.blob)
        put(job, 'blob', '')
    end
    call('SREM', 'literati:dataset-live:' .. job.dataset, job.id)
    call('ZADD', DATASETS_USED, 'XX', now, job.dataset)
    set_state(job, state, stop_reason)
    put(job, 'wish', '') -- last, so that `reconcile` carries the request out if this script fails before
    count('ended:' .. stop_reason)
    add_event(job, 'done', '{"state":"' .. state .. '","stop_reason":' .. text_or_null(stop_reason)
        .. ',"model_id":' .. text_or_null(model and model_id or '') .. '}')
    if job.sweep ~= '' then
        child_ended(job, state, failure)
    end
end

local function cancel(job)
    end_job(job, 'CANCELLED', 'USER_CANCEL', '0', '', '')
end

local function finish_with_stored_tree(job, model_id)
    end_job(job, 'SUCCEEDED', 'USER_FINISH', '0', '', model_id)
end

local function pause(job, reason)
    unassign(job)
    put(job, 'stalls', '0')
    set_state(job, 'PAUSED', reason)
    put(job, 'wish', '')
end

-- Carry out the pending request of a job whose worker has gone, or queue the job again. A request to finish a job
-- without a tree stays, for the next worker.
local function end_or_requeue(job, reason, model_id)
    if reason == 'WORKER_LOST' then
        count('lease_losses')
    end
    unassign(job)
    if job.wish == 'cancel' then
        cancel(job)
    elseif job.wish == 'pause' then
        pause(job, reason)
    elseif job.wish == 'finish' and has_tree(job) then
        finish_with_stored_tree(job, model_id)
    else
        enqueue(job, reason)
    end
end
