-- ARGV: unit, generation, owner. Releases the lease, so that the same generation can begin again at once.
if not holds(ARGV[1], ARGV[2], ARGV[3]) then return { 'fenced' } end
release(ARGV[1])
return { 'ok' }
