-- KEYS: workers by time of their last heartbeat (sorted set; member: token, slots)
-- ARGV: calling worker (empty: not a worker), earliest heartbeat (ms) that counts, timeout (ms) of a heartbeat, age (ms)
-- from which workers are deleted
-- Returns the time, the number of live workers, their total slots, and the age (ms) of the last heartbeat (-1: none).
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
