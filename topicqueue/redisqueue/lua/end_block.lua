-- ARGV: unit, generation, owner, status, reason, fallbacks (JSON)
local unit = ARGV[1]
if redis.call('HGET', work, unit .. ':ended') == ARGV[3] then
  return { 'ok', lane(), wanted() } -- the reply of the first call was lost
end
if not holds(unit, ARGV[2], ARGV[3]) then return { 'fenced' } end
redis.call('HSET', work, unit .. ':ended', ARGV[3])
return { 'ok', lane(), endBlock(unit, ARGV[4], ARGV[5], ARGV[6], {}, ARGV[2]) }
