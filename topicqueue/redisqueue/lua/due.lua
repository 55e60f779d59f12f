-- KEYS: index of runs (sorted set: run by next check), clock of the sweeps (hash)
-- ARGV: runs to return at the most, how long the caller has for each (ms), gap (ms), quiet (ms)
-- Returns whether leases may be taken over now, and the runs that are due, which other sweepers will not see for a while.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
-- After a gap in the sweeps Redis was away for everybody, or no worker ran: holders of leases get time to renew them.
local last = tonumber(redis.call('HGET', KEYS[2], 'last') or '0')
if now - last > tonumber(ARGV[3]) then redis.call('HSET', KEYS[2], 'quiet', now + tonumber(ARGV[4])) end
redis.call('HSET', KEYS[2], 'last', now)
local takeover = '0'
if now >= tonumber(redis.call('HGET', KEYS[2], 'quiet') or '0') then takeover = '1' end
local runs = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
for _, id in ipairs(runs) do redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), id) end
return { takeover, runs }
