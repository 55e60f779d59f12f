-- Slows down after a server has refused a request. KEYS[1]: every (time between turns, ms), at (time of the last refusal).
-- ARGV: initial time between turns (ms); its maximum; lifetime (ms) of this state. Refusals within a second count once.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local every = math.max(tonumber(ARGV[1]), tonumber(redis.call('HGET', KEYS[1], 'every') or '0'))
if now - tonumber(redis.call('HGET', KEYS[1], 'at') or '0') >= 1000 then
  every = math.min(2 * every, math.max(tonumber(ARGV[2]), tonumber(ARGV[1])))
  redis.call('HSET', KEYS[1], 'every', every, 'at', string.format('%.0f', now))
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return every
