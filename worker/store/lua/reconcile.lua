-- model ids, one for each job that may be settled
local lost = call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, #ARGV)
for i, id in ipairs(lost) do
    settle(read(id), 'WORKER_LOST', ARGV[i])
end
return #lost
