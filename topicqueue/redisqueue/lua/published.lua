-- ARGV: generation, owner, time until the state expires (ms), state and reason, which may be worse than the run's, tally
-- ('' = none). All results of the run are in storage, so its state is only needed for a retry.
if text(work, 'publish:ended') == ARGV[2] then return answer({}) end -- repeated call: its reply was lost
if not holds('publish', ARGV[1], ARGV[2]) then return { 'fenced' } end
redis.call('HSET', run, 'published', now, 'state', ARGV[4], 'reason', ARGV[5])
if ARGV[6] ~= '' then redis.call('HSET', run, 'tally', ARGV[6]) end
redis.call('HDEL', run, 'unpublished')
release('publish')
redis.call('HSET', work, 'publish:ended', ARGV[2])
redis.call('DEL', base .. 'report', todo, active)
for n = 1, num(run, 'blocks') do redis.call('DEL', base .. 'journal:block_' .. n) end
for _, key in ipairs(kept()) do redis.call('PEXPIRE', key, ARGV[3]) end
return answer({})
