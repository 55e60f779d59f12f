-- ARGV: unit, generation, owner, status, reason, events (JSON), fallbacks (JSON)
local unit = ARGV[1]
if not holds(unit, ARGV[2], ARGV[3]) then return { 'fenced' } end
if not redis.call('ZSCORE', active, unit) then return { 'ok', lane(), wanted() } end
redis.call('HSET', blocks, unit .. ':status', ARGV[4], unit .. ':reason', ARGV[5], unit .. ':fallbacks', ARGV[7], unit .. ':updated', now)
redis.call('HSET', work, unit .. ':lease', 0)
redis.call('ZREM', active, unit)
redis.call('HINCRBY', run, 'processed', 1)
emit(progress(cjson.decode(ARGV[6])), ARGV[2])
local out = admit()
if redis.call('ZCARD', active) == 0 and redis.call('HGET', run, 'state') == 'researching' then
  redis.call('HSET', run, 'state', 'reporting')
  out = wanted()
end
return { 'ok', lane(), out }
