-- KEYS: unfinished runs by next check (sorted set), ended runs by next check (sorted set), clock of the sweeps (hash)
-- ARGV: maximum number of runs from each set, time (ms) that the caller has for each, gap (ms), quiet (ms)
-- Returns whether leases may be taken over now, and the due runs. Other sweepers do not get these runs for the given time.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
-- After a gap in the sweeps, Redis was unreachable or no worker ran. Lease holders then get time to renew.
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
