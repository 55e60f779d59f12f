-- KEYS: runs of a batch (sorted set), its unpublished runs (set), lines (hash), state (hash)
-- ARGV: runs to remove from the lists; unpublished runs stay. Returns 1 if the batch is empty and removed.
for _, id in ipairs(ARGV) do
  if redis.call('SISMEMBER', KEYS[2], id) == 0 then
    redis.call('ZREM', KEYS[1], id)
    redis.call('HDEL', KEYS[3], id)
  end
end
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
redis.call('DEL', KEYS[3], KEYS[4])
return 1
