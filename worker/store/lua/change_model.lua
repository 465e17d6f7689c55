-- tenant id expected(the tags before the change, or ''), then names of fields and their values as JSON
local tenant, id, expected = unpack(ARGV, 1, 3)

local key = 'literati:model:' .. id
local found = call('HMGET', key, 'tenant', 'tags')
if found[1] ~= tenant then
    return { 'MODEL_GONE' }
end
for i = 4, #ARGV, 2 do
    local present = found[2] or ''
    if ARGV[i] == 'tags' and present ~= expected and present ~= ARGV[i + 1] then
        return { 'CHANGED_MEANWHILE' }
    end
end
for i = 4, #ARGV, 2 do
    call('HSET', key, ARGV[i], ARGV[i + 1])
end
return { 'OK' }
