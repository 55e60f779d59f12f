-- KEYS: batches by time of their next check (sorted set)
-- ARGV: batch, time of its next check as read by the caller. If the time has changed, the batch stays.
local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if at and tonumber(at) == tonumber(ARGV[2]) then return redis.call('ZREM', KEYS[1], ARGV[1]) end
return 0
