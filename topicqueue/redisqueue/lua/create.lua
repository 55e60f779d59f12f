-- ARGV: id, batch, topic, options (JSON), lane, parallel, duration (ms), reserve for writing (ms), deadline (ms since
-- 1970, 0 = none), narrate (1), own budget (0 = none), initial budget (0 = no limit), labels (JSON; may be
-- empty)
if redis.call('EXISTS', run) == 1 then return { 'exists', lane(), {}, state() } end
redis.call('HSET', run, 'id', ARGV[1], 'batch', ARGV[2], 'topic', ARGV[3], 'options', ARGV[4], 'lane', ARGV[5],
  'parallel', ARGV[6], 'state', 'queued', 'created', now)
for i, name in ipairs({ 'duration', 'reserve', 'deadline', 'narrate', 'ceiling', 'limit' }) do
  if ARGV[6 + i] ~= '0' then redis.call('HSET', run, name, ARGV[6 + i]) end
end
if ARGV[#ARGV] ~= '' then redis.call('HSET', run, 'labels', ARGV[#ARGV]) end
return answer({})
