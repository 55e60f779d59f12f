-- ARGV: unit (plan or report), generation, owner, state, reason, report, web sites, events (JSON)
if not holds(ARGV[1], ARGV[2], ARGV[3]) then return { 'fenced' } end
if redis.call('HEXISTS', run, 'ended') == 1 then return { 'ok', lane(), {} } end
redis.call('HSET', run, 'state', ARGV[4], 'reason', ARGV[5], 'report', ARGV[6], 'ended', now)
redis.call('HSET', work, ARGV[1] .. ':lease', 0)
local list = cjson.decode(ARGV[8])
local started = num(run, 'started')
table.insert(list, { key = 'summary_statistics', block = '', place = '{}', status = 'summary_statistics', meta = '',
  content = string.format('{"used_time":%.3f,"website_num":%d}', (now - started) / 60000, tonumber(ARGV[7])) })
table.insert(list, { key = 'complete', block = '', place = '{}', status = 'complete', meta = '',
  content = cjson.encode({ state = ARGV[4] }) })
emit(list, ARGV[2])
return { 'ok', lane(), {} }
