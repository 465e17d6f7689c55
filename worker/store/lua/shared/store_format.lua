-- The mark of the store (store_format.py). A script that writes what older programs cannot read calls `require_reader`
-- with the format that they must know and the version of this program.
local STORE_FORMAT = 'literati:store-format'

local function raise_mark(name, number, version)
    if tonumber(call('HGET', STORE_FORMAT, name) or 0) < tonumber(number) then
        call('HSET', STORE_FORMAT, name, number, 'version', version)
    end
end

local function require_reader(number, version)
    raise_mark('format', number, version)
    raise_mark('reader', number, version)
end
