-- ARGV: id, batch, topic, options (JSON), lane, parallel
if redis.call('EXISTS', run) == 1 then return { 'exists', lane(), wanted() } end
redis.call('HSET', run, 'id', ARGV[1], 'batch', ARGV[2], 'topic', ARGV[3], 'options', ARGV[4], 'lane', ARGV[5],
  'parallel', ARGV[6], 'state', 'queued', 'created', now)
return { 'ok', lane(), wanted() }
