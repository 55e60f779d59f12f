-- KEYS: as in shared_take. ARGV: token, lease (ms), time (ms) that the entry outlives its lease
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
local clock = redis.call('TIME')
redis.call('HSET', KEYS[1], 'lease', clock[1] * 1000 + math.floor(clock[2] / 1000) + tonumber(ARGV[2]))
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[2]) + tonumber(ARGV[3]))
return 1
