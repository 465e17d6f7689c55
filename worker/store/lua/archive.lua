-- kind(job or model) id name(of the blob, as 32 bytes) revision(that the job must have) models(how many the job must have made)
-- reader version(which other programs need from now on, as in store_format.lua) fields of the short form
-- Put an archive in the place of an ended job's record and its parts, or of a model's record. Return 1, or 0 if the
-- record has changed or was deleted since it was read, or is archived already. Repeating this does nothing.
local kind, id, raw, revision, models, reader, version = unpack(ARGV, 1, 7)
local name = archive_name(raw)

local key = 'literati:' .. kind .. ':' .. id
if call('ZREM', ARCHIVES_PENDING, name) == 0 then
    -- The answer to the first call was lost, or it took so long that the blob may have been deleted.
    return { 'OK', call('HGET', key, 'archive') == raw and 1 or 0 }
end

-- For each kind of record, return the fields that may have changed since it was read; nil if it cannot be archived.
local CURRENT = {}

function CURRENT.job()
    local job = read(id)
    if not job or not TERMINAL[job.state] or job.archive ~= '' or job.revision ~= revision then
        return nil
    elseif call('HLEN', key .. ':models') ~= tonumber(models) then
        return nil
    elseif job.sweep ~= '' and call('SISMEMBER', sweep_key(job.sweep) .. ':live', id) == 1 then
        return nil -- its sweep has not seen its end
    end
    unlink_parts(id, job.incumbents)
    return { blob = job.blob }
end

function CURRENT.model()
    local found = call('HMGET', key, 'tree', 'archive', 'name', 'notes', 'tags')
    if not found[1] or found[2] then
        return nil
    end
    return { name = found[3] or '', notes = found[4] or '', tags = found[5] or '' }
end

local current = CURRENT[kind]()
if not current then
    remove_archive(name)
    return { 'OK', 0 }
end
require_reader(reader, version)
call('DEL', key) -- a hash that was large stays so
call('HSET', key, 'archive', raw, unpack(ARGV, 8))
for field, value in pairs(current) do
    if value ~= '' or field == 'blob' then -- the archive may name a search that was deleted since
        call('HSET', key, field, value)
    end
end
call('ZREM', ARCHIVABLE, id)
count('archived_' .. kind .. 's')
return { 'OK', 1 }
