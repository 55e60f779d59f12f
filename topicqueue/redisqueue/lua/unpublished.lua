-- ARGV: generation, owner, reason. Stores why the results of a run are not in storage yet.
if not holds('publish', ARGV[1], ARGV[2]) then return { 'fenced' } end
redis.call('HSET', run, 'unpublished', ARGV[3])
return { 'ok' }
