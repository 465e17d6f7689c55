-- id epoch model_id state stop_reason proven error limits_revision(or '') checkpoint(JSON or '') tree metrics log
local id, epoch, model_id, state, stop_reason, proven, failure, limits_revision = unpack(ARGV, 1, 8)
local given, tree, metrics, log = unpack(ARGV, 9)

local BY_LIMIT = {
    GAP_REACHED = true,
    TIME_LIMIT = true,
    EXPANSION_LIMIT = true,
    MEMORY_LIMIT = true,
    NO_IMPROVEMENT = true,
}

local job = read(id)
if job and job.ended_epoch == epoch then
    return { 'OK' } -- said before
end
if not held_by(job, epoch) then
    return fenced('finish')
end
if state == 'SUCCEEDED' and tree == '' and not has_tree(job) then
    return { 'NO_TREE' }
end
if given ~= '' then
    given = cjson.decode(given)
    merge(job, given, tree, metrics, log)
    if given.objective ~= '' and tonumber(given.objective) == tonumber(job.objective) then
        job.last_word = { tree, metrics, given.scores }
        put(job, 'metrics', metrics)
        put(job, 'scores', given.scores)
    end
end

-- A client that was told STOPPING after cancel finds CANCELLED, whatever the worker came to meanwhile; and a job
-- that was wished finished is not paused.
-- A limit that was changed before the worker heard of it ends nothing: the job goes on under the new one.
local limits_changed = limits_revision ~= '' and (call('HGET', job.key, 'limits_revision') or '0') ~= limits_revision
if job.wish == 'cancel' then
    cancel(job)
elseif job.wish == '' and limits_changed and BY_LIMIT[stop_reason] then
    settle(job, 'LIMITS_CHANGED', model_id)
elseif state ~= 'PAUSED' then
    end_job(job, state, stop_reason, proven, failure, model_id)
elseif job.wish == 'finish' then
    settle(job, '', model_id)
else
    pause(job, '')
end
put(job, 'ended_epoch', epoch)
return { 'OK' }
