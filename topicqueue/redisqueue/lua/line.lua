-- KEYS: lines of a batch (hash: run -> JSON), its unpublished runs (set), its state (hash)
-- ARGV: run, line. If two epochs of a run write a line, the later epoch's line stays. Returns 1 if the batch needs a
-- digest: it is sealed, no run is open, and a run has ended since the last digest.
local old = redis.call('HGET', KEYS[1], ARGV[1])
-- Times are in UTC with a variable number of decimals. Without the Z, earlier times sort first.
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
