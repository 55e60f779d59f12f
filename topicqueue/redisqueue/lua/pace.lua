-- KEYS: time (ms) of the next free turn; the learned pace, see pace_slow. ARGV: time (ms) between turns; maximum wait (ms),
-- -1 = unlimited.
-- Returns 1 and the time (ms) until the caller's turn. If that exceeds the maximum, it returns 0 and the time, and takes
-- no turn.
local every, patience = tonumber(ARGV[1]), tonumber(ARGV[2])
every = math.max(every, tonumber(redis.call('HGET', KEYS[2], 'every') or '0'))
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local turn = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))
local wait = turn - now
if patience >= 0 and wait > patience then return { 0, wait } end
redis.call('SET', KEYS[1], string.format('%.0f', turn + every), 'PX', string.format('%.0f', wait + every))
return { 1, wait }
