-- KEYS: shared entry of one key (hash). ARGV: token, lease (ms), whether the caller may make the value (1 or 0), time
-- (ms) that the entry outlives its lease. Returns the value, or the time to wait for another caller's, or asks the
-- caller to make it.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local e = redis.call('HMGET', KEYS[1], 'value', 'owner', 'lease')
if e[1] then return { 'there', e[1] } end
if e[2] and e[2] ~= ARGV[1] and tonumber(e[3]) > now then
  redis.call('HSET', KEYS[1], 'wanted', now)
  return { 'wait', tostring(tonumber(e[3]) - now) }
end
if ARGV[3] == '0' then return { 'nobody' } end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'lease', now + tonumber(ARGV[2]))
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[2]) + tonumber(ARGV[4]))
return { 'make' }
