-- KEYS: lines of a batch (hash: run -> JSON), its runs that are not yet published (set), its state (hash)
-- ARGV: run, line. Of two, of which one comes late, that of the later epoch stays. Returns 1 when the batch now wants a
-- digest: it is sealed, nothing of it is open, and something has ended since the last digest.
local old = redis.call('HGET', KEYS[1], ARGV[1])
-- Times are in UTC and have as many decimals as they need: without the Z the earlier one comes first.
local function ended_at(line) return (string.gsub(cjson.decode(line).ended_at or '', 'Z$', '')) end
local before, ended = old and ended_at(old), ended_at(ARGV[2])
if old and before > ended then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if redis.call('SREM', KEYS[2], ARGV[1]) == 1 or before ~= ended then redis.call('HINCRBY', KEYS[3], 'generation', 1) end
local generation, digested = redis.call('HGET', KEYS[3], 'generation') or '0', redis.call('HGET', KEYS[3], 'digested') or '0'
if redis.call('HEXISTS', KEYS[3], 'sealed') == 1 and redis.call('SCARD', KEYS[2]) == 0 and tonumber(generation) > tonumber(digested) then
  return 1
end
return 0
