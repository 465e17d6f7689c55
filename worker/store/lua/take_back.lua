-- id name(of the archive, as 32 bytes), then lists, each after its length: fields, models, trace, events(id type data each)
-- then for each tree its revision, the length of its fields, and its fields
-- Move an archived job back to Redis, so that it can be changed. Later it is archived again.
local id, name = ARGV[1], ARGV[2]

local key = job_key(id)
local found = call('HMGET', key, 'archive', 'blob')
if found[1] ~= name then
    return { 'OK' } -- this call is a repetition, or another process was faster
end
local at = 3

-- Return the position of the next list and the position after it.
local function next_list()
    local first = at + 1
    at = first + tonumber(ARGV[at])
    return first, at
end

-- Call a command for each group of values, because Lua cannot pass very many at once.
local function store(size, command)
    local first, last = next_list()
    for i = first, last - 1, size do
        command(unpack(ARGV, i, i + size - 1))
    end
end

call('ZADD', ARCHIVABLE, now, id) -- first, because a server without memory refuses it, but not DEL
call('DEL', key)
store(2, function(field, value)
    call('HSET', key, field, value)
end)
call('HSET', key, 'blob', found[2] or '')
store(2, function(revision, model)
    call('HSET', key .. ':models', revision, model)
end)
store(1, function(point)
    call('RPUSH', key .. ':trace', point)
end)
store(3, function(event, kind, data)
    call('XADD', key .. ':events', event, 'type', kind, 'data', data)
end)
while at <= #ARGV do
    local tree = key .. ':incumbent:' .. ARGV[at]
    at = at + 1
    store(2, function(field, value)
        call('HSET', tree, field, value)
    end)
end
-- A replica that takes over may not have received this and still need the archive, so it is kept for a while.
call('ZADD', ARCHIVES_PENDING, now, archive_name(name))
return { 'OK' }
