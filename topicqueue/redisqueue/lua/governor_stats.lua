-- KEYS[1] is the state of one model server's governor. Returns its statistics, or nothing if there are none.
local base = string.sub(KEYS[1], 1, -6)
if redis.call('EXISTS', KEYS[1]) == 0 then return {} end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local s = redis.call('HMGET', KEYS[1], 'limit', 'throttled', 'granted', 'open', 'opened', 'why')
return { s[1], s[2], s[3], s[4], s[5], redis.call('ZCOUNT', base .. 'flight', now, '+inf'),
  redis.call('ZCOUNT', base .. 'lease', now, '+inf'), s[6] or '' }
