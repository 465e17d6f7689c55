-- Which blobs are in use: counts of references, and the set of archives. Equal contents are one blob, which may be
-- deleted when no record refers to it.

-- Return the name of an archive, which records have as 32 bytes, to need less space. `raw` may be nil.
local function archive_name(raw)
    local name = (raw or ''):gsub('.', function(byte)
        return string.format('%02x', byte:byte())
    end)
    return name
end

local function to_bytes(name)
    local raw = name:gsub('..', function(digits)
        return string.char(tonumber(digits, 16))
    end)
    return raw
end

local function add_reference(name)
    call('HINCRBY', REFERENCES, name, 1)
end

-- Return the blob's name if this was its last reference, else ''.
local function remove_reference(name)
    if name == '' or call('HINCRBY', REFERENCES, name, -1) > 0 then
        return ''
    end
    call('HDEL', REFERENCES, name)
    call('SADD', GARBAGE, name)
    local bytes = call('HGET', SNAPSHOT_BYTES, name)
    if bytes then
        call('HDEL', SNAPSHOT_BYTES, name)
        count('saved_bytes', string.format('%.0f', 0 - tonumber(bytes)))
    end
    return name
end

-- An archive belongs to one record, so it needs no count. A set of names of 32 bytes takes less memory than counts by
-- name. Return false if the name is in the set already.
local function add_archive(name)
    return call('SADD', ARCHIVES, to_bytes(name)) == 1
end

-- Return the blob's name, or '' if there is none.
local function remove_archive(name)
    if name ~= '' and call('SREM', ARCHIVES, to_bytes(name)) == 1 then
        call('SADD', GARBAGE, name)
        return name
    end
    return remove_reference(name) -- programs of format 3 counted archives
end
