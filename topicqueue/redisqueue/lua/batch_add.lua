-- KEYS: runs of a batch (sorted set: run by order), its unpublished runs (set), lines (hash: run -> JSON)
-- ARGV: run, order. Returns 0 for a published run, which stays in the batch and is not worked on again.
if redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return 0 end
redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1])
redis.call('SADD', KEYS[2], ARGV[1])
return 1
