-- KEYS: schedules (hash: record by name)
-- ARGV: name, the record that the caller has read ('' = none), what it is to be ('' = none)
-- Returns 1, or 0 when the record is another one now.
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
return 1
