-- KEYS: schedules (hash: record by name)
-- ARGV: name, record as read by the caller ('' = none), new record ('' = delete)
-- Returns 1, or 0 if the record has changed meanwhile.
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
return 1
