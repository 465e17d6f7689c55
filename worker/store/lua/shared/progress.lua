-- Merge the progress update of a worker into its job, so that clients never see progress go back.
-- `publish_progress` and `finish` use this.

local EXPLORED_STEP = 0.01 -- of the explored share, which grows all the time, between two events about it alone

local function lesser(a, b)
    return tonumber(b) < tonumber(a) and b or a
end

local function greater(a, b)
    return tonumber(b) > tonumber(a) and b or a
end

-- Combine new bounds with known ones: upper never rises, lower never falls, lower <= upper.
local function tighten(upper, lower, old_upper, old_lower)
    upper = greater(lesser(old_upper, upper), old_lower)
    return upper, lesser(greater(old_lower, lower), upper)
end

-- Merge what a search says about its stage into what is known: upper, lower, explored and stage, as text. The stages
-- of a search are ever wider spaces, and bounds belong to one of them: a later stage replaces them, and what an earlier
-- one says is ignored. Within a stage nothing gets worse, and explored is 1 exactly if the bounds are equal. Return
-- whether the stage is not an earlier one.
local function merge_stage(known, new)
    local stage = tonumber(known.stage) or 0 -- records of an earlier version have none
    if tonumber(new.stage) < stage and known.upper ~= '' then
        return false
    end
    local explored = known.explored ~= '' and known.explored or '0.0'
    if known.upper == '' or tonumber(new.stage) > stage then
        known.upper, known.lower, explored = new.upper, lesser(new.lower, new.upper), '0.0'
    else
        known.upper, known.lower = tighten(new.upper, new.lower, known.upper, known.lower)
    end
    if tonumber(known.lower) >= tonumber(known.upper) then
        explored = '1.0'
    elseif tonumber(new.explored) < 1 then
        explored = greater(explored, new.explored)
    end
    known.explored, known.stage = explored, new.stage
    return true
end

local function add_incumbent(job, update, tree, metrics)
    local objective = update.objective
    if job.objective ~= '' and tonumber(objective) >= tonumber(job.objective) then
        return false
    end
    count('incumbents')
    local revision = tostring(tonumber(job.incumbents) + 1)
    call('HSET', job.key .. ':incumbent:' .. revision, 'objective', objective, 'tree', tree, 'metrics', metrics,
        'scores', update.scores, 'found_at', now, 'found_seconds', update.found_seconds)
    put(job, 'incumbents', revision)
    put(job, 'objective', objective)
    put(job, 'metrics', metrics)
    put(job, 'scores', update.scores)
    if job.incumbents == '1' then
        put(job, 'first_incumbent_at', now)
    end
    local oldest = string.format('%.0f', tonumber(job.incumbents) - MAX_INCUMBENTS)
    if oldest ~= job.chosen then
        call('DEL', job.key .. ':incumbent:' .. oldest)
    end
    return true
end

-- The upper bound is never below the objective of the stored tree, so that the two do not contradict each other. Return
-- whether clients are to be told: a bound or the stage has changed, or the explored share has grown by a hundredth.
local function merge_bounds(job, update)
    local upper, lower, stage = job.upper, job.lower, job.stage
    local said = {
        upper = greater(update.upper, job.objective), lower = update.lower, explored = update.explored,
        stage = update.stage,
    }
    if not merge_stage(job, said) then
        return false
    end
    for _, name in ipairs({ 'upper', 'lower', 'explored', 'stage' }) do
        put(job, name, job[name])
    end
    put(job, 'seconds_left', tonumber(job.lower) >= tonumber(job.upper) and '0.0' or update.seconds_left)
    put(job, 'space', update.space)
    put(job, 'proven_space', update.proven_space)
    put(job, 'last_stage', update.last_stage)
    local more = tonumber(job.explored) - (tonumber(job.explored_sent) or 0)
    return upper ~= job.upper or lower ~= job.lower or (stage ~= '' and stage ~= job.stage) or more >= EXPLORED_STEP
end

-- Drop every second point, but not the last one.
local function thin_trace(key)
    local points = call('LRANGE', key, 0, -1)
    call('DEL', key)
    for i = 1, #points, 2 do
        call('RPUSH', key, points[i])
    end
    if #points % 2 == 0 then
        call('RPUSH', key, points[#points])
    end
end

-- A search that continues from a snapshot repeats a part of its trace: points before the last one are skipped.
local function extend_trace(job, trace)
    local key = job.key .. ':trace'
    local last = (call('LRANGE', key, -1, -1))[1]
    local seconds, expansions
    local known = { upper = '', lower = '', explored = '', stage = '' }
    if last then -- points of version 0.1.0 have neither the explored share nor the stage
        seconds, expansions, known.upper, known.lower, known.explored, known.stage =
            last:match('^(%S+) (%S+) (%S+) (%S+) ?(%S*) ?(%S*)$')
        last = known.lower and last -- else it is not a point, and the trace starts again
        known.upper = last and known.upper or ''
    end
    for _, point in ipairs(trace) do
        if not last or (tonumber(point[1]) >= tonumber(seconds) and tonumber(point[2]) >= tonumber(expansions)) then
            seconds, expansions = point[1], point[2]
            merge_stage(known, { upper = point[3], lower = point[4], explored = point[5], stage = point[6] })
        end
        local line = table.concat({ seconds, expansions, known.upper, known.lower, known.explored, known.stage }, ' ')
        if line ~= last then
            call('RPUSH', key, line)
            last = line
        end
    end
    if #trace > 0 and call('LLEN', key) > MAX_TRACE then
        thin_trace(key)
    end
end

local function merge_effort(job, update)
    local before = job.expansions .. ' ' .. job.elapsed .. ' ' .. job.states_live .. ' ' .. job.memory
    local more = tonumber(update.expansions) - tonumber(job.expansions)
    if more > 0 then
        count('expansions', string.format('%.0f', more))
        put(job, 'expansions', update.expansions)
    end
    put(job, 'elapsed', greater(job.elapsed, update.elapsed))
    put(job, 'states_live', update.states_live)
    put(job, 'memory', update.memory)
    return before ~= job.expansions .. ' ' .. job.elapsed .. ' ' .. job.states_live .. ' ' .. job.memory
end

local function bounds_as_json(job)
    return '"objective":' .. job.objective .. ',"upper_bound":' .. job.upper .. ',"lower_bound":' .. job.lower
        .. ',"explored":' .. job.explored
        .. ',"seconds_left":' .. (job.seconds_left ~= '' and job.seconds_left or 'null')
        .. ',"stage":' .. job.stage .. ',"space":' .. cjson.encode(job.space)
end

-- Bounds are stored from the first tree on: they are known together or not at all. Return the snapshot that is
-- replaced, or ''.
local function apply_update(job, update, tree, metrics, log)
    count('checkpoints') -- the name of a metric
    local has_changed = merge_effort(job, update)
    local better = update.objective ~= '' and add_incumbent(job, update, tree, metrics)
    if has_tree(job) then
        local moved = merge_bounds(job, update) or better
        extend_trace(job, update.trace)
        if better then
            -- The proof in the tree may be about an earlier stage than that of the job.
            call('HSET', job.key .. ':incumbent:' .. job.incumbents, 'upper', job.upper, 'lower', job.lower,
                'explored', job.explored, 'seconds_left', job.seconds_left, 'stage', job.stage, 'space', job.space,
                'tree_stage', update.tree_stage, 'proven_space', job.proven_space)
            add_event(job, 'incumbent', '{"revision":' .. job.incumbents .. ',' .. bounds_as_json(job)
                .. ',"found_seconds":' .. update.found_seconds .. '}')
        end
        if moved then
            add_event(job, 'bound', '{' .. bounds_as_json(job) .. ',"expansions":' .. job.expansions
                .. ',"elapsed_seconds":' .. job.elapsed .. '}')
            put(job, 'explored_sent', job.explored)
        end
        has_changed = has_changed or moved
    end
    if log ~= '' then
        add_event(job, 'log', '{"message":' .. log .. '}')
        has_changed = true
    end
    local replaced = ''
    if update.blob ~= '' and update.blob ~= job.blob then
        add_reference(update.blob)
        if call('HSETNX', SNAPSHOT_BYTES, update.blob, update.blob_bytes) == 1 then
            count('saved_bytes', update.blob_bytes)
        end
        replaced = remove_reference(job.blob)
        if call('EXISTS', DELETION_HOLD) == 1 then
            replaced = '' -- the backup may need it; the reconciler deletes it afterwards
        end
        put(job, 'blob', update.blob)
    end
    if has_changed then
        publish_change(job)
    end
    return replaced
end
