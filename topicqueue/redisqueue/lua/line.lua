-- KEYS: lines of a batch (hash: run -> JSON)
-- ARGV: run, line. Of two, of which one comes late, that of the later epoch stays.
local old = redis.call('HGET', KEYS[1], ARGV[1])
if old and cjson.decode(old).ended_at > cjson.decode(ARGV[2]).ended_at then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
