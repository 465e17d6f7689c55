-- name
call('SREM', GARBAGE, ARGV[1])
return call('HEXISTS', REFERENCES, ARGV[1])
