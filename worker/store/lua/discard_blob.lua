-- name. Whether nobody refers to a blob that was garbage; it is no longer listed as such either way.
call('SREM', GARBAGE, ARGV[1])
return call('HEXISTS', REFERENCES, ARGV[1]) == 0 and 1 or 0
