-- format(of the program) reader(that it requires of others) version
local format, reader, version = unpack(ARGV)

local mark = call('HMGET', STORE_FORMAT, 'reader', 'version')
if tonumber(mark[1] or 0) > tonumber(format) then
    return { mark[1], mark[2] or '?' } -- a program that cannot read the store does not change it
end
raise_mark('format', format, version)
require_reader(reader, version)
return call('HMGET', STORE_FORMAT, 'reader', 'version')
