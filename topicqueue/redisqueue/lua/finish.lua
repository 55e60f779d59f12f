-- ARGV: unit (plan or report), generation, owner, state, reason, report, web sites, events (JSON)
if redis.call('HGET', work, ARGV[1] .. ':ended') == ARGV[3] then return { 'ok', lane(), {} } end
if not holds(ARGV[1], ARGV[2], ARGV[3]) then return { 'fenced' } end
redis.call('HSET', work, ARGV[1] .. ':ended', ARGV[3])
finish(ARGV[1], ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]), cjson.decode(ARGV[8]), ARGV[2])
return { 'ok', lane(), {} }
