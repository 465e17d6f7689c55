-- age_ms retry_ms max_records
-- Return the ids of jobs and models to be archived. They are due again after `retry_ms`, if this process is killed.
--
-- An earlier version cannot read archives. It may still run beside this one for a while, so nothing is archived before
-- this version has used the store for `age_ms`. A store without records need not wait.
local age, retry, max_records = unpack(ARGV)

call('ZREM', ARCHIVABLE, '') -- a server without memory lets a script go on whose first write deletes
local since = call('GET', ARCHIVE_SINCE)
if not since then
    since = call('EXISTS', 'literati:seq') == 1 and now or '0'
    call('SET', ARCHIVE_SINCE, since)
    if since == '0' then
        call('SET', ARCHIVABLE_INDEXED, 1)
    end
end
if tonumber(now) < tonumber(since) + tonumber(age) then
    return { 'WAIT' }
elseif call('EXISTS', ARCHIVABLE_INDEXED) == 0 then
    return { 'INDEX' }
end
local before = tonumber(now) - tonumber(age)
local found = call('ZRANGEBYSCORE', ARCHIVABLE, '-inf', string.format('%.0f', before), 'LIMIT', 0, max_records)
local taken = {}
for _, id in ipairs(found) do
    local record = call('HMGET', 'literati:' .. (id:match('^mdl_') and 'model:' or 'job:') .. id, 'tenant', 'archive')
    if not record[1] or record[2] then
        call('ZREM', ARCHIVABLE, id)
    else
        call('ZADD', ARCHIVABLE, string.format('%.0f', before + tonumber(retry)), id)
        table.insert(taken, id)
    end
end
return { 'OK', taken }
