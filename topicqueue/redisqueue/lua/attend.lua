-- KEYS: workers by their last sign of life (sorted set: token, slots)
-- ARGV: the worker that calls (empty: somebody else), since when (ms) the others must have been heard of to count, ms of
-- silence after which one does not, ms after which it is forgotten
-- Returns the time, how many workers live, their slots in all, and how long ago the last one was heard of (-1: never).
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
if ARGV[1] ~= '' then
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[4]))
end
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
local live = redis.call('ZRANGEBYSCORE', KEYS[1], math.max(tonumber(ARGV[2]), now - tonumber(ARGV[3])), '+inf')
local slots = 0
for _, worker in ipairs(live) do slots = slots + tonumber(string.match(worker, ' (%d+)$')) end
return { now, #live, slots, last[2] and now - tonumber(last[2]) or -1 }
