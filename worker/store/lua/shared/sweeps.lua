-- Sweeps. The jobs of a sweep try settings ("units") on folds, and a last one fits the chosen parameters to all rows.
--
-- A sweep has a list of jobs to be created. So many of them are created that MAX_QUEUED wait in its queue. The place
-- of a job in its sweep is "unit fold", or "refit". What it found is stored under its place, so nothing counts twice.
--
-- QUEUED and RUNNING sweeps create jobs. A sweep whose jobs have all ended is CHOOSING: the process that sees this
-- first chooses, in Python, and `choose_sweep` stores the choice. Then the sweep is REFITTING, or it ends. A sweep
-- that was cancelled is STOPPING until its jobs have stopped.

local MAX_QUEUED = 32 -- queued jobs of a sweep
local SWEEP_STATES = 'literati:sweep-states'
local SWEEP_FIELDS = {
    'tenant', 'dataset', 'seq', 'priority', 'state', 'folds', 'max_failed', 'time_limit', 'used', 'running_since',
    'stop_reason', 'request_id', 'refit_job', 'started_at', 'round',
}

local SWEEP_NUMBERS = {
    seq = '0', priority = '0', folds = '0', used = '0', round = '0', max_failed = '', time_limit = '', running_since = '',
}

local function sweep_index(state, tenant)
    return 'literati:tenant-sweep-state:' .. state .. ':' .. tenant
end

local function read_sweep(id)
    local values = call('HMGET', sweep_key(id), unpack(SWEEP_FIELDS))
    if not values[1] then
        return nil
    end
    local sweep = { id = id, key = sweep_key(id) }
    for i, name in ipairs(SWEEP_FIELDS) do
        sweep[name] = values[i] or ''
    end
    for name, default in pairs(SWEEP_NUMBERS) do -- a damaged record must not keep workers from other jobs
        sweep[name] = tonumber(sweep[name]) and sweep[name] or default
    end
    return sweep
end

local function read_sweep_of_tenant(id, tenant)
    local sweep = read_sweep(id)
    return sweep and sweep.tenant == tenant and sweep or nil
end

local function creates_jobs(sweep)
    return sweep.state == 'QUEUED' or sweep.state == 'RUNNING'
end

-- The time limit of a sweep counts while it is RUNNING. `used` has the milliseconds before `running_since`.
local function start_clock(sweep)
    put(sweep, 'running_since', now)
    if sweep.time_limit ~= '' then
        local left = math.max(0, tonumber(sweep.time_limit) - tonumber(sweep.used))
        call('ZADD', SWEEP_DEADLINES, string.format('%.0f', tonumber(now) + left), sweep.id)
    end
end

local function stop_clock(sweep)
    call('ZREM', SWEEP_DEADLINES, sweep.id)
    if sweep.running_since ~= '' then
        local used = tonumber(sweep.used) + tonumber(now) - tonumber(sweep.running_since)
        put(sweep, 'used', string.format('%.0f', used))
        put(sweep, 'running_since', '')
    end
end

local function set_sweep_state(sweep, state, reason)
    if sweep.state ~= '' then
        call('ZREM', sweep_index(sweep.state, sweep.tenant), sweep.id)
        call('HINCRBY', SWEEP_STATES, sweep.state, -1)
    end
    if state == 'RUNNING' then
        start_clock(sweep)
    else
        stop_clock(sweep)
    end
    put(sweep, 'state', state)
    call('ZADD', sweep_index(state, sweep.tenant), sweep.seq, sweep.id)
    call('HINCRBY', SWEEP_STATES, state, 1)
    if state == 'CHOOSING' then
        call('ZADD', SWEEPS_DUE, now, sweep.id)
    else
        call('ZREM', SWEEPS_DUE, sweep.id)
    end
    add_transition(sweep, reason)
    add_event(sweep, 'state', '{"state":"' .. state .. '","stop_reason":' .. text_or_null(sweep.stop_reason)
        .. ',"reason":' .. text_or_null(reason) .. '}')
    publish_change(sweep)
end

-- Every sweep that ends does so here.
local function end_sweep(sweep, state, stop_reason, failure, model_id)
    put(sweep, 'stop_reason', stop_reason)
    put(sweep, 'error', failure)
    put(sweep, 'finished_at', now)
    if model_id ~= '' then
        put(sweep, 'model_id', model_id)
    end
    call('DEL', sweep.key .. ':pending')
    call('SREM', SWEEPS_LIVE, sweep.id)
    call('SREM', 'literati:tenant-live-sweeps:' .. sweep.tenant, sweep.id)
    call('SREM', 'literati:dataset-live:' .. sweep.dataset, sweep.id)
    call('ZADD', DATASETS_USED, 'XX', now, sweep.dataset)
    call('ZREM', owners_key(sweep.tenant), 'sweep:' .. sweep.id)
    call('ZADD', ENDED_SWEEPS, now, sweep.id)
    set_sweep_state(sweep, state, stop_reason)
    count('sweeps_ended:' .. state)
    add_event(sweep, 'done', '{"state":"' .. state .. '","stop_reason":' .. text_or_null(stop_reason)
        .. ',"model_id":' .. text_or_null(model_id) .. '}')
end

-- The opposite of `end_sweep`, for a new sweep and for one that is extended.
local function begin_sweep(sweep)
    call('SADD', SWEEPS_LIVE, sweep.id)
    call('SADD', 'literati:tenant-live-sweeps:' .. sweep.tenant, sweep.id)
    call('SADD', 'literati:dataset-live:' .. sweep.dataset, sweep.id)
    call('ZADD', DATASETS_USED, now, sweep.dataset)
    call('ZREM', ENDED_SWEEPS, sweep.id)
end

local function create_child(sweep, line)
    local id, place, spec, settings, cores = unpack(cjson.decode(line)) -- texts only
    call('SADD', sweep.key .. ':live', id)
    call('HSET', sweep.key .. ':children', place, id)
    create_job(id, {
        tenant = sweep.tenant, dataset = sweep.dataset, priority = sweep.priority, spec = spec, settings = settings,
        request_id = sweep.request_id, cores = cores, sweep = sweep.id, place = place,
    })
end

local function unit_of(place)
    return place:match('^(%d+) ')
end

-- Create jobs until enough of them are queued. Those of a unit that is dropped are left out.
local function create_children(sweep)
    while creates_jobs(sweep) and call('ZCARD', queue_key('sweep:' .. sweep.id)) < MAX_QUEUED do
        local line = call('LPOP', sweep.key .. ':pending')
        if not line then
            return
        end
        local unit = unit_of(cjson.decode(line)[2])
        if call('SISMEMBER', sweep.key .. ':dropped', unit) == 0 then
            create_child(sweep, line)
        end
    end
end

local function has_complete_unit(sweep)
    local folds, wanted = {}, tonumber(sweep.folds)
    for _, place in ipairs(call('HKEYS', sweep.key .. ':results')) do
        local unit = unit_of(place)
        folds[unit] = (folds[unit] or 0) + 1
        if folds[unit] == wanted then
            return true
        end
    end
    return false
end

-- Cancel a job of a sweep that has not ended. A worker that has it is asked to stop.
local function cancel_child(job)
    if job.wish ~= 'cancel' and not TERMINAL[job.state] then
        if lease_is_valid(job) then
            put(job, 'wish', 'cancel')
            set_state(job, 'STOPPING', '')
        else
            cancel(job)
        end
    end
end

local function cancel_children(sweep)
    call('DEL', sweep.key .. ':pending')
    for _, id in ipairs(call('SMEMBERS', sweep.key .. ':live')) do
        local job = read(id)
        if job then
            cancel_child(job)
        else
            call('SREM', sweep.key .. ':live', id)
        end
    end
end

-- Try a unit no more.
local function drop_unit(sweep, unit)
    call('SADD', sweep.key .. ':dropped', unit)
    for _, id in ipairs(call('SMEMBERS', sweep.key .. ':live')) do
        local job = read(id)
        if job and unit_of(job.place) == unit then
            cancel_child(job)
        end
    end
end

local NO_REFIT = '{"code":"INTERNAL","message":"The record of its last job is lost. Extend the sweep to fit again."}'
local NO_RESULT = '{"code":"INTERNAL","message":"What the job found is lost."}'
local NO_TRIAL = '{"code":"NO_COMPLETE_TRIAL","message":"No trial was complete, so there is nothing to choose from. '
    .. 'Extend the sweep with more time."}'

-- Stop trying and choose among the complete trials.
local function stop_and_choose(sweep, stop_reason)
    put(sweep, 'stop_reason', stop_reason)
    set_sweep_state(sweep, 'CHOOSING', stop_reason) -- before, so that the ends of its jobs create no others
    cancel_children(sweep)
    if not has_complete_unit(sweep) then
        end_sweep(sweep, 'FAILED', stop_reason, NO_TRIAL, '')
    end
end

-- Do what follows from the end of jobs: create others, pause, or choose.
local function advance_sweep(sweep)
    create_children(sweep)
    local idle = call('SCARD', sweep.key .. ':live') == 0
    if TERMINAL[sweep.state] then
        return
    elseif sweep.state == 'STOPPING' then
        if idle then
            end_sweep(sweep, 'CANCELLED', sweep.stop_reason, '', '')
        end
    elseif sweep.state == 'REFITTING' then
        if idle then
            end_sweep(sweep, 'FAILED', sweep.stop_reason, NO_REFIT, '')
        end
    elseif call('SCARD', sweep.key .. ':live') > 0 then
        if sweep.state ~= 'PAUSING' then
            return
        end
        for _, id in ipairs(call('SMEMBERS', sweep.key .. ':live')) do
            if call('HGET', job_key(id), 'state') ~= 'PAUSED' then
                return
            end
        end
        set_sweep_state(sweep, 'PAUSED', '')
    elseif call('LLEN', sweep.key .. ':pending') > 0 then
        if sweep.state == 'PAUSING' then
            set_sweep_state(sweep, 'PAUSED', '')
        end
    elseif creates_jobs(sweep) or sweep.state == 'PAUSING' then
        stop_and_choose(sweep, 'COMPLETE')
    end
end

local function too_many_failed(sweep)
    local units, failed = {}, 0
    for _, place in ipairs(call('HKEYS', sweep.key .. ':failures')) do
        local unit = unit_of(place)
        failed = failed + (units[unit] and 0 or 1)
        units[unit] = true
    end
    return sweep.max_failed ~= '' and failed > tonumber(sweep.max_failed)
end

local function refit_ended(sweep, job, state, failure)
    if sweep.state ~= 'REFITTING' or sweep.refit_job ~= job.id then
        advance_sweep(sweep)
    elseif state == 'SUCCEEDED' then
        end_sweep(sweep, 'SUCCEEDED', sweep.stop_reason, '', job.model_id)
    else
        end_sweep(sweep, 'FAILED', sweep.stop_reason, failure, '')
    end
end

-- What a job found, as JSON: the result of a path, or the scores of a tree. nil if there is neither.
local function result_of(job)
    local result = call('HGET', job.key, 'result')
    if result then
        return result
    elseif not has_tree(job) then
        return nil
    end
    local scores = call('HGET', job.key, 'scores') or 'null'
    return '{"scores":' .. scores .. ',"objective":' .. job.objective .. ',"upper":' .. job.upper .. ',"lower":'
        .. job.lower .. ',"stop_reason":"' .. job.stop_reason .. '","seconds":' .. job.elapsed .. '}'
end

function child_ended(job, state, failure)
    local sweep = read_sweep(job.sweep)
    if not sweep then
        return
    end
    call('SREM', sweep.key .. ':live', job.id)
    if job.place == 'refit' then
        return refit_ended(sweep, job, state, failure)
    end
    local open = creates_jobs(sweep) or sweep.state == 'PAUSING'
    local result = state == 'SUCCEEDED' and result_of(job)
    if state == 'SUCCEEDED' and not result then
        state, failure = 'FAILED', NO_RESULT
    end
    if result then
        call('HSET', sweep.key .. ':results', job.place, result)
        call('HDEL', job.key, 'result')
    elseif state == 'FAILED' then
        call('HSET', sweep.key .. ':failures', job.place, failure)
    end
    if sweep.state == 'RUNNING' then -- bring `used` up to date
        stop_clock(sweep)
        start_clock(sweep)
    end
    if open then
        local unit, fold = job.place:match('^(%d+) (%d+)$')
        add_event(sweep, 'trial', '{"setting":' .. unit .. ',"fold":' .. fold .. ',"state":"' .. state
            .. '","job_id":"' .. job.id .. '"}')
    end
    publish_change(sweep)
    if open and too_many_failed(sweep) then
        set_sweep_state(sweep, 'CHOOSING', 'FAILED_TRIALS')
        cancel_children(sweep)
        end_sweep(sweep, 'FAILED', 'FAILED_TRIALS', failure, '')
        return
    end
    if state == 'FAILED' then
        drop_unit(sweep, unit_of(job.place))
        sweep = read_sweep(job.sweep) -- the ends of other jobs may have changed it
    end
    advance_sweep(sweep)
end

-- A worker has claimed a job of a sweep, so there is room for another one in its queue.
local function child_started(job)
    local sweep = job.sweep ~= '' and read_sweep(job.sweep)
    if sweep then
        if sweep.state == 'QUEUED' then
            call('HSETNX', sweep.key, 'started_at', now)
            set_sweep_state(sweep, 'RUNNING', '')
        end
        create_children(sweep)
        publish_change(sweep)
    end
end
