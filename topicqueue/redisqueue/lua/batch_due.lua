-- KEYS: batches by time of their next check (sorted set)
-- ARGV: maximum number of batches, time (ms) that the caller has for each
-- Returns due batches, each with the time from which other callers can get it.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local out = {}
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])) do
  local next = string.format('%d', now + tonumber(ARGV[2]))
  redis.call('ZADD', KEYS[1], next, name)
  table.insert(out, name)
  table.insert(out, next)
end
return out
