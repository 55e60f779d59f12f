-- Updates the run index, which holds the data about all runs. Its keys share the hash tag {index}.
-- KEYS: unfinished runs by next check (sorted set), state of each run (hash), counters (hash), runs of the lane that wait
-- for planning (sorted set), those with a task (sorted set), ended runs by next check (sorted set), runs of the lane that
-- have begun and take slots (set)
-- ARGV: run, state ('' = unchanged), next check in ms ('' = unchanged, inf = never, -1 = delete the run; =TIME: ms since
-- 1970), soonest (1: only move the check forward), place among waiting runs ('' = not waiting, = unchanged), nearness (ms)
-- of a check that stays, whether the run takes slots (1, 0; '' = unchanged)
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local id, state, check, soonest, wait = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1', ARGV[5]
local near = now + tonumber(ARGV[6])
local old = redis.call('HGET', KEYS[2], id)
local function ended(s) return s == 'completed' or s == 'partial' or s == 'failed' or s == 'cancelled' end
if state ~= '' and old ~= state then
  if old then redis.call('HINCRBY', KEYS[3], 'state:' .. old, -1) end
  redis.call('HINCRBY', KEYS[3], 'state:' .. state, 1)
  redis.call('HSET', KEYS[2], id, state)
  -- An unknown run has ended before: it is published, or its enqueueing was interrupted.
  if old and ended(state) then
    redis.call('HINCRBY', KEYS[3], 'ended:' .. state, 1)
  end
  old = state
end
if ARGV[7] == '1' then redis.call('SADD', KEYS[7], id) elseif ARGV[7] == '0' then redis.call('SREM', KEYS[7], id) end
-- A check that is near was requested after the caller read the run, so a later check does not replace it.
local index, other = KEYS[1], KEYS[6]
if ended(old) then index, other = KEYS[6], KEYS[1] end
local had = redis.call('ZSCORE', other, id)
if had then
  redis.call('ZREM', other, id)
  redis.call('ZADD', index, had, id)
end
had = redis.call('ZSCORE', index, id)
had = had and (tonumber(had) or math.huge) -- not every Lua version parses 'inf' as a number
if check == '-1' then
  if had and had <= near then return 0 end
  redis.call('ZREM', index, id)
  if redis.call('HDEL', KEYS[2], id) == 1 then redis.call('HINCRBY', KEYS[3], 'state:' .. old, -1) end
elseif check ~= '' then
  local at = math.huge
  local given = string.match(check, '^=(%d+)$')
  if given then at = tonumber(given) elseif check ~= 'inf' then at = now + tonumber(check) end
  if not had or at < had or not soonest and had > near then
    redis.call('ZADD', index, at == math.huge and '+inf' or at, id)
  end
end
if wait == '' then
  redis.call('ZREM', KEYS[4], id)
  redis.call('ZREM', KEYS[5], id)
elseif wait ~= '=' and not redis.call('ZSCORE', KEYS[5], id) then
  redis.call('ZADD', KEYS[4], 'NX', wait, id)
end
return 1
