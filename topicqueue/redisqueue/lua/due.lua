-- KEYS: index of runs (sorted set: run by next check), that of runs that have ended, clock of the sweeps (hash)
-- ARGV: runs of each to return at the most, how long the caller has for each (ms), gap (ms), quiet (ms)
-- Returns whether leases may be taken over now, and the runs that are due, which other sweepers will not see for a while.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
-- After a gap in the sweeps Redis was away for everybody, or no worker ran: holders of leases get time to renew them.
local last = tonumber(redis.call('HGET', KEYS[3], 'last') or '0')
if now - last > tonumber(ARGV[3]) then redis.call('HSET', KEYS[3], 'quiet', now + tonumber(ARGV[4])) end
redis.call('HSET', KEYS[3], 'last', now)
local takeover = '0'
if now >= tonumber(redis.call('HGET', KEYS[3], 'quiet') or '0') then takeover = '1' end
local runs = {}
for _, index in ipairs({ KEYS[1], KEYS[2] }) do
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', now, 'LIMIT', 0, ARGV[1])) do
    redis.call('ZADD', index, now + tonumber(ARGV[2]), id)
    table.insert(runs, id)
  end
end
return { takeover, runs }
