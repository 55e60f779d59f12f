-- ARGV: unit, generation, owner. Yields the unit to a new generation.
if not holds(ARGV[1], ARGV[2], ARGV[3]) then return { 'fenced' } end
fence(ARGV[1])
if not wants(ARGV[1]) then return answer({}) end -- paused
return answer({ ARGV[1], tostring(generation(ARGV[1])) })
