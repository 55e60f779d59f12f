-- KEYS: counters (hash)
-- ARGV: field, value. Sets the field to the value if that is larger.
if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0') < tonumber(ARGV[2]) then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return 1
