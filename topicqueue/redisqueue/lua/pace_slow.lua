-- A server has refused a request. KEYS[1]: every (ms between turns) and at (when it last refused). ARGV: ms between turns
-- where it has never refused; the most of them; ms that this is remembered. Refusals within a second are one.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local every = math.max(tonumber(ARGV[1]), tonumber(redis.call('HGET', KEYS[1], 'every') or '0'))
if now - tonumber(redis.call('HGET', KEYS[1], 'at') or '0') >= 1000 then
  every = math.min(2 * every, math.max(tonumber(ARGV[2]), tonumber(ARGV[1])))
  redis.call('HSET', KEYS[1], 'every', every, 'at', string.format('%.0f', now))
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return every
