-- KEYS: batches by next look (sorted set)
-- ARGV: batch, its next look as the caller knows it. One that was announced meanwhile stays.
local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if at and tonumber(at) == tonumber(ARGV[2]) then return redis.call('ZREM', KEYS[1], ARGV[1]) end
return 0
