-- KEYS: runs of a batch (sorted set), those that are not yet published (set), lines (hash), state (hash)
-- ARGV: runs that are no longer listed; open ones stay. Returns 1 when nothing is left of the batch.
for _, id in ipairs(ARGV) do
  if redis.call('SISMEMBER', KEYS[2], id) == 0 then
    redis.call('ZREM', KEYS[1], id)
    redis.call('HDEL', KEYS[3], id)
  end
end
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
redis.call('DEL', KEYS[3], KEYS[4])
return 1
