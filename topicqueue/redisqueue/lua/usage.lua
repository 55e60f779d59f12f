-- ARGV: usage (JSON), which says when the call was made: what is there already is the same call, whose reply was lost. Of
-- a run whose state has expired nothing is kept.
if redis.call('EXISTS', run) == 0 or redis.call('LPOS', base .. 'usage', ARGV[1]) then return { 'ok' } end
redis.call('RPUSH', base .. 'usage', ARGV[1])
local left = redis.call('PTTL', run)
if left > 0 then redis.call('PEXPIRE', base .. 'usage', left) end
return { 'ok' }
