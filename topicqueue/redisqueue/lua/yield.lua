-- ARGV: unit, generation, owner. Hands the unit on to a new generation.
if not holds(ARGV[1], ARGV[2], ARGV[3]) then return { 'fenced' } end
local next = tonumber(ARGV[2]) + 1
redis.call('HSET', work, ARGV[1] .. ':gen', next, ARGV[1] .. ':owner', '', ARGV[1] .. ':lease', 0)
return { 'ok', lane(), { ARGV[1], tostring(next) } }
