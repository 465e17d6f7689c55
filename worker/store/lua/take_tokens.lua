-- bucket rate(tokens a second) burst wanted
-- Take tokens from a token bucket. Return how many were taken, how many are left, and the milliseconds until there is
-- one again and until the bucket is full.
local bucket, rate, burst, wanted = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local key = 'literati:rate:' .. bucket
local found = call('HMGET', key, 'tokens', 'at')
local tokens = burst
if found[1] then
    local passed = math.max(0, tonumber(now) - tonumber(found[2]))
    tokens = math.min(burst, tonumber(found[1]) + passed * rate / 1000)
end
local taken = math.min(wanted, math.floor(tokens))
tokens = tokens - taken
call('HSET', key, 'tokens', string.format('%.6f', tokens), 'at', now)
call('PEXPIRE', key, math.ceil(1000 * burst / rate) + 1000) -- the bucket is full again by then
local until_one = tokens >= 1 and 0 or math.ceil(1000 * (1 - tokens) / rate)
return { taken, math.floor(tokens), until_one, math.ceil(1000 * (burst - tokens) / rate) }
