-- ARGV: unit, generation, owner, events (JSON)
if not holds(ARGV[1], ARGV[2], ARGV[3]) then return { 'fenced' } end
emit(cjson.decode(ARGV[4]), ARGV[2])
return { 'ok' }
