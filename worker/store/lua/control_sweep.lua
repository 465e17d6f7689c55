-- id tenant action model_id(which also identifies the call: a repetition has the same)
-- For `extend` also: revision(that the sweep must have) spec max_failed(or '') time_limit_ms(or '') max_live(or '')
-- units(JSON) jobs(as in submit_sweep.lua)
local id, tenant, action, model_id = unpack(ARGV, 1, 4)

local sweep = read_sweep_of_tenant(id, tenant)
if not sweep then
    return { 'SWEEP_GONE' }
end

local function answer(status)
    return { status, call('HGETALL', sweep.key) }
end

local function wrong_state(why)
    return { 'WRONG_STATE', sweep.state, why }
end

local ACTIONS = {}

function ACTIONS.cancel()
    if sweep.state == 'CANCELLED' or sweep.state == 'STOPPING' then
        return answer('REPEATED')
    elseif TERMINAL[sweep.state] then
        return wrong_state('')
    end
    put(sweep, 'stop_reason', 'USER_CANCEL')
    set_sweep_state(sweep, 'STOPPING', '')
    cancel_children(sweep)
    advance_sweep(read_sweep(id)) -- the end of its last job may have ended it
end

-- While the last job runs, its best tree is taken.
local function finish_refit()
    local job = read(sweep.refit_job)
    if not job or not has_tree(job) then
        return wrong_state('NO_TREE')
    elseif job.wish == 'finish' then
        return answer('REPEATED')
    elseif lease_is_valid(job) then
        put(job, 'wish', 'finish')
        set_state(job, 'STOPPING', '')
    else
        finish_with_stored_tree(job, model_id)
    end
end

function ACTIONS.finish()
    if sweep.state == 'REFITTING' then
        return finish_refit()
    elseif sweep.state == 'CHOOSING' or (sweep.state == 'SUCCEEDED' and sweep.stop_reason == 'USER_FINISH') then
        return answer('REPEATED')
    elseif TERMINAL[sweep.state] or sweep.state == 'STOPPING' then
        return wrong_state('')
    elseif not has_complete_unit(sweep) then
        return wrong_state('NO_TRIAL')
    end
    stop_and_choose(sweep, 'USER_FINISH')
end

-- Jobs that are running continue to their end; queued ones wait.
function ACTIONS.pause()
    if sweep.state == 'PAUSING' or sweep.state == 'PAUSED' then
        return answer('REPEATED')
    elseif not creates_jobs(sweep) then
        return wrong_state('')
    end
    set_sweep_state(sweep, 'PAUSING', '')
    for _, child in ipairs(call('SMEMBERS', sweep.key .. ':live')) do
        local job = read(child)
        if job and job.state == 'QUEUED' then
            pause(job, '')
        end
    end
    advance_sweep(read_sweep(id)) -- a damaged job may have failed, and the sweep with it
end

function ACTIONS.resume()
    if creates_jobs(sweep) then
        return answer('REPEATED')
    elseif sweep.state ~= 'PAUSED' and sweep.state ~= 'PAUSING' then
        return wrong_state('')
    end
    set_sweep_state(sweep, sweep.started_at ~= '' and 'RUNNING' or 'QUEUED', 'RESUMED')
    for _, child in ipairs(call('SMEMBERS', sweep.key .. ':live')) do
        local job = read(child)
        if job and job.state == 'PAUSED' then
            enqueue(job, 'RESUMED')
        end
    end
    advance_sweep(read_sweep(id))
end

function ACTIONS.extend()
    local revision, spec, max_failed, time_limit, max_live, units = unpack(ARGV, 5, 10)
    if call('HGET', sweep.key, 'revision') ~= revision then
        return { 'CHANGED_MEANWHILE' }
    elseif not TERMINAL[sweep.state] then
        return wrong_state('')
    elseif call('SCARD', sweep.key .. ':live') > 0 then
        return wrong_state('STOPPING')
    elseif call('HGET', 'literati:dataset:' .. sweep.dataset, 'tenant') ~= tenant then
        return { 'DATASET_GONE' }
    elseif max_live ~= '' and live_jobs(tenant) >= tonumber(max_live) then
        return { 'LIMIT_REACHED', 'live_jobs' }
    end
    call('HSET', sweep.key, 'spec', spec, 'max_failed', max_failed, 'time_limit', time_limit)
    call('HDEL', sweep.key, 'stop_reason', 'error', 'finished_at', 'choice', 'refit_job')
    call('SET', sweep.key .. ':plan', units)
    call('DEL', sweep.key .. ':failures', sweep.key .. ':dropped')
    for i = 11, #ARGV do
        call('RPUSH', sweep.key .. ':pending', ARGV[i])
    end
    call('HINCRBY', sweep.key, 'round', 1) -- what was read before must not be acted on
    sweep = read_sweep(id)
    begin_sweep(sweep)
    set_sweep_state(sweep, 'QUEUED', 'EXTENDED')
    advance_sweep(sweep)
end

if call('HGET', sweep.key, 'asked') == model_id then
    return answer('DONE') -- the answer to the first call was lost
end
local result = ACTIONS[action]()
if result then
    return result
end
put(sweep, 'asked', model_id)
return answer('DONE')
