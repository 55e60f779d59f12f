-- KEYS: batches by time of their next check (sorted set)
-- ARGV: batch, time (ms) until its next check. The check is only moved forward.
local clock = redis.call('TIME')
redis.call('ZADD', KEYS[1], 'LT', clock[1] * 1000 + math.floor(clock[2] / 1000) + tonumber(ARGV[2]), ARGV[1])
return 1
