-- id epoch model_id state stop_reason proven error limits_revision(or '') result(of a sweep's job: JSON or '')
-- update(JSON or '') tree metrics log
local id, epoch, model_id, state, stop_reason, proven, failure, limits_revision = unpack(ARGV, 1, 8)
local result, update, tree, metrics, log = unpack(ARGV, 9)

local BY_LIMIT = {
    GAP_REACHED = true, TIME_LIMIT = true, EXPANSION_LIMIT = true, MEMORY_LIMIT = true, NO_IMPROVEMENT = true,
}

local job = read(id)
if job and job.ended_epoch == epoch then
    return { 'OK' } -- this call is a repetition
end
if not has_lease(job, epoch) then
    return fenced('finish')
end
if state == 'SUCCEEDED' and tree == '' and result == '' and not has_tree(job) then
    return { 'NO_TREE' }
end
if update ~= '' then
    update = cjson.decode(update)
    apply_update(job, update, tree, metrics, log)
    if update.objective ~= '' and tonumber(update.objective) == tonumber(job.objective) then
        job.final_tree = { tree, metrics, update.scores, update.tree_stage }
        put(job, 'metrics', metrics)
        put(job, 'scores', update.scores)
    end
end

if result ~= '' then
    put(job, 'result', result) -- `end_job` gives it to the sweep
end

-- A pending cancel wins over the worker's outcome, and a pending finish wins over a pause. If the limits were changed
-- before the worker knew of it, reaching a limit does not end the job: it continues under the new limits.
local limits_changed = limits_revision ~= '' and (call('HGET', job.key, 'limits_revision') or '0') ~= limits_revision
if job.wish == 'cancel' then
    cancel(job)
elseif job.wish == '' and limits_changed and BY_LIMIT[stop_reason] then
    end_or_requeue(job, 'LIMITS_CHANGED', model_id)
elseif state ~= 'PAUSED' then
    end_job(job, state, stop_reason, proven, failure, model_id)
elseif job.wish == 'finish' then
    end_or_requeue(job, '', model_id)
else
    pause(job, '')
end
put(job, 'ended_epoch', epoch)
return { 'OK' }
