-- What a worker publishes, merged into its job: nothing that a client was told is taken back. Stands after the
-- prelude in the scripts that take a checkpoint.

local function lesser(a, b)
    return tonumber(b) < tonumber(a) and b or a
end

local function greater(a, b)
    return tonumber(b) > tonumber(a) and b or a
end

-- Both bounds of a moment with those known before: upper never rises, lower never falls, lower <= upper.
local function tighten(upper, lower, old_upper, old_lower)
    upper = greater(lesser(old_upper, upper), old_lower)
    return upper, lesser(greater(old_lower, lower), upper)
end

local function keep_incumbent(job, given, tree, metrics)
    local objective = given.objective
    if job.objective ~= '' and tonumber(objective) >= tonumber(job.objective) then
        return false
    end
    count('incumbents')
    local revision = tostring(tonumber(job.incumbents) + 1)
    call('HSET', job.key .. ':incumbent:' .. revision, 'objective', objective, 'tree', tree, 'metrics', metrics,
        'scores', given.scores, 'found_at', now, 'found_seconds', given.found_seconds)
    put(job, 'incumbents', revision)
    put(job, 'objective', objective)
    put(job, 'metrics', metrics)
    put(job, 'scores', given.scores)
    if job.incumbents == '1' then
        put(job, 'first_incumbent_at', now)
    end
    local oldest = string.format('%.0f', tonumber(job.incumbents) - MAX_INCUMBENTS)
    if oldest ~= job.chosen then
        call('DEL', job.key .. ':incumbent:' .. oldest)
    end
    return true
end

-- Upper stays at or above the objective of the tree that is kept, or the two would contradict each other.
local function merge_bounds(job, given)
    local upper, lower = greater(given.upper, job.objective), given.lower
    if job.upper ~= '' then
        upper, lower = tighten(upper, lower, job.upper, job.lower)
    else
        lower = lesser(lower, upper)
    end
    local moved = upper ~= job.upper or lower ~= job.lower
    put(job, 'upper', upper)
    put(job, 'lower', lower)
    return moved
end

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

-- A search that went on from an older checkpoint tells some of its way again: points before the last are left out.
local function extend_trace(job, trace)
    local key = job.key .. ':trace'
    local last = (call('LRANGE', key, -1, -1))[1]
    local seconds, expansions, upper, lower
    if last then
        seconds, expansions, upper, lower = last:match('(%S+) (%S+) (%S+) (%S+)')
        last = lower and last -- else it is no point: begin anew
    end
    for _, point in ipairs(trace) do
        if not last then
            seconds, expansions, upper, lower = point[1], point[2], point[3], lesser(point[4], point[3])
        elseif tonumber(point[1]) >= tonumber(seconds) and tonumber(point[2]) >= tonumber(expansions) then
            seconds, expansions = point[1], point[2]
            upper, lower = tighten(point[3], point[4], upper, lower)
        end
        local line = table.concat({ seconds, expansions, upper, lower }, ' ')
        if line ~= last then
            call('RPUSH', key, line)
            last = line
        end
    end
    if #trace > 0 and call('LLEN', key) > MAX_TRACE then
        thin_trace(key)
    end
end


local function merge_effort(job, given)
    local before = job.expansions .. ' ' .. job.elapsed .. ' ' .. job.states_live .. ' ' .. job.memory
    local more = tonumber(given.expansions) - tonumber(job.expansions)
    if more > 0 then
        count('expansions', string.format('%.0f', more))
        put(job, 'expansions', given.expansions)
    end
    put(job, 'elapsed', greater(job.elapsed, given.elapsed))
    put(job, 'states_live', given.states_live)
    put(job, 'memory', given.memory)
    return before ~= job.expansions .. ' ' .. job.elapsed .. ' ' .. job.states_live .. ' ' .. job.memory
end

local function bounds_as_json(job)
    return '"objective":' .. job.objective .. ',"upper_bound":' .. job.upper .. ',"lower_bound":' .. job.lower
end

local function note_saved(name, bytes)
    if call('HSETNX', SAVED, name, bytes) == 1 then
        count('saved_bytes', bytes)
    end
end

-- Bounds count from the first tree on: they are known together or not at all. Returns the blob that is replaced.
local function merge(job, given, tree, metrics, log)
    count('checkpoints')
    local news = merge_effort(job, given)
    local better = given.objective ~= '' and keep_incumbent(job, given, tree, metrics)
    if has_tree(job) then
        local moved = merge_bounds(job, given) or better
        extend_trace(job, given.trace)
        if better then
            call('HSET', job.key .. ':incumbent:' .. job.incumbents, 'upper', job.upper, 'lower', job.lower)
            emit(job, 'incumbent', '{"revision":' .. job.incumbents .. ',' .. bounds_as_json(job)
                .. ',"found_seconds":' .. given.found_seconds .. '}')
        end
        if moved then
            emit(job, 'bound', '{' .. bounds_as_json(job) .. ',"expansions":' .. job.expansions
                .. ',"elapsed_seconds":' .. job.elapsed .. '}')
        end
        news = news or moved
    end
    if log ~= '' then
        emit(job, 'log', '{"message":' .. log .. '}')
        news = true
    end
    local replaced = ''
    if given.blob ~= '' and given.blob ~= job.blob then
        hold_blob(given.blob)
        note_saved(given.blob, given.blob_bytes)
        replaced = drop_blob(job.blob)
        put(job, 'blob', given.blob)
    end
    if news then
        changed(job)
    end
    return replaced
end
