-- KEYS: the time of the next free turn, in ms; what was learned, see pace_slow. ARGV: ms between turns; ms that the caller
-- can wait, -1 for ever.
-- Returns 1 and the ms until the caller's turn; 0 and those until the next one when it would come too late: nobody takes it.
local every, patience = tonumber(ARGV[1]), tonumber(ARGV[2])
every = math.max(every, tonumber(redis.call('HGET', KEYS[2], 'every') or '0'))
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local turn = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))
local wait = turn - now
if patience >= 0 and wait > patience then return { 0, wait } end
redis.call('SET', KEYS[1], string.format('%.0f', turn + every), 'PX', string.format('%.0f', wait + every))
return { 1, wait }
