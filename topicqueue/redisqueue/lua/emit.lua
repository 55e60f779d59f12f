-- ARGV: unit, generation, owner, events (JSON). A run that has ended accepts no events.
if not holds(ARGV[1], ARGV[2], ARGV[3]) or ended() then return { 'fenced' } end
emit(cjson.decode(ARGV[4]), ARGV[2])
return { 'ok' }
