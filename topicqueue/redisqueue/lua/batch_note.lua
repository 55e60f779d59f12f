-- KEYS: batches by next look (sorted set)
-- ARGV: batch, in how many ms to look at it, which only brings the look forward
local clock = redis.call('TIME')
redis.call('ZADD', KEYS[1], 'LT', clock[1] * 1000 + math.floor(clock[2] / 1000) + tonumber(ARGV[2]), ARGV[1])
return 1
