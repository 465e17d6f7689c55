-- format(of the program) reader(that it requires of others) version
-- A program that cannot read the store changes nothing here, because its numbers are the lower ones.
local format, reader, version = unpack(ARGV)

raise_mark('format', format, version)
require_reader(reader, version)
return call('HMGET', STORE_FORMAT, 'reader', 'version')
