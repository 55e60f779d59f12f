-- ARGV: unit (plan or report), generation, owner, state, reason, key of the report, the report (JSON; empty: none), events
-- (JSON)
local unit = ARGV[1]
if text(work, unit .. ':ended') == ARGV[3] then return answer(wanted()) end -- repeated call: its reply was lost
if not holds(unit, ARGV[2], ARGV[3]) or ended() then return { 'fenced' } end
redis.call('HSET', work, unit .. ':ended', ARGV[3])
redis.call('HSET', run, 'report', ARGV[6])
if ARGV[7] ~= '' then redis.call('SET', base .. 'report', ARGV[7]) end
emit(cjson.decode(ARGV[8]), ARGV[2])
release(unit)
if redis.call('HEXISTS', run, 'narrate') == 1 and ARGV[6] ~= '' then
  if redis.call('HEXISTS', run, 'sealed') == 0 then
    redis.call('HSET', run, 'state', 'narrating', 'outcome', ARGV[4], 'reason', ARGV[5])
    return answer(wanted())
  end
  unspoken(text(run, 'sealed'))
end
conclude(ARGV[4], ARGV[5], ARGV[2])
return answer(wanted())
