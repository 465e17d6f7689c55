-- name pending_ms
-- Refer to a blob that is about to be written. If its process is killed, the reference is removed after `pending_ms`.
local name, pending = unpack(ARGV)

call('ZREM', ARCHIVABLE, '') -- as in take_archivable.lua
local before = string.format('%.0f', tonumber(now) - tonumber(pending))
for _, old in ipairs(call('ZRANGEBYSCORE', ARCHIVES_PENDING, '-inf', before, 'LIMIT', 0, 100)) do
    call('ZREM', ARCHIVES_PENDING, old)
    remove_archive(old)
end
if add_archive(name) then -- else this call is a repetition, perhaps a late one: the archive may be in use
    call('ZADD', ARCHIVES_PENDING, now, name)
end
return { 'OK' }
