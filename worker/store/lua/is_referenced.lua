-- name
-- While a backup is being made no blob is deleted; the reconciler looks again afterwards.
if call('EXISTS', DELETION_HOLD) == 1 then
    call('SADD', GARBAGE, ARGV[1])
    return 1
end
call('SREM', GARBAGE, ARGV[1])
return math.max(call('HEXISTS', REFERENCES, ARGV[1]), call('SISMEMBER', ARCHIVES, to_bytes(ARGV[1])))
