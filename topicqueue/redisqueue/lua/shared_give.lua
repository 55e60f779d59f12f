-- KEYS: as in shared_take. ARGV: token, outcome (kept, failed, broken), value, lifetime (ms) of a kept value, maximum age
-- (ms) of the last sign of a waiting caller, lifetime (ms) of a failure, time (ms) that an entry waits for a new owner.
-- Returns join if waiting callers take over and the caller can have their result.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local e = redis.call('HMGET', KEYS[1], 'value', 'owner', 'wanted', 'failures')
local function put(lifetime)
  redis.call('HSET', KEYS[1], 'value', ARGV[3])
  redis.call('HDEL', KEYS[1], 'owner', 'lease', 'wanted', 'failures')
  redis.call('PEXPIRE', KEYS[1], lifetime)
end
if ARGV[2] == 'kept' then
  if not e[1] then put(ARGV[4]) end
  return ''
end
if e[1] or e[2] ~= ARGV[1] then return 'join' end
if not e[3] or now - tonumber(e[3]) > tonumber(ARGV[5]) then
  redis.call('DEL', KEYS[1])
  return ''
end
if ARGV[2] == 'failed' then
  if e[4] then -- a second caller failed too: share the failure
    put(ARGV[6])
    return ''
  end
  redis.call('HSET', KEYS[1], 'failures', 1)
end
redis.call('HDEL', KEYS[1], 'owner', 'lease')
redis.call('PEXPIRE', KEYS[1], ARGV[7])
return 'join'
