-- Moves a run on from a stage other than researching. ARGV: unit, generation, owner, then by unit
--  plan     question (JSON), patience (ms; 0: no limit), events (JSON): the plan waits for a person's answer
--  review   new blocks (JSON list of texts; empty: reporting is next), the topicqueue.Review (JSON)
--  narrate  narration (JSON), events (JSON): the run ends with the outcome that its report committed
local unit = ARGV[1]
if text(work, unit .. ':ended') == ARGV[3] then return answer(wanted()) end -- repeated call: its reply was lost
if not holds(unit, ARGV[2], ARGV[3]) or stage[state()] ~= unit then return { 'fenced' } end
redis.call('HSET', work, unit .. ':ended', ARGV[3])
if unit == 'plan' then
  local n = redis.call('HINCRBY', run, 'asks', 1)
  redis.call('HSET', run, 'state', 'awaiting_input', 'question:' .. n, ARGV[4], 'posed:' .. n, now)
  if ARGV[5] ~= '0' then redis.call('HSET', run, 'patience:' .. n, now + tonumber(ARGV[5])) end
  emit(cjson.decode(ARGV[6]), ARGV[2])
  fence('plan')
elseif unit == 'review' then
  redis.call('HINCRBY', run, 'loop', 1)
  redis.call('HSET', run, 'review', ARGV[5])
  fence('review')
  local found = cjson.decode(ARGV[4])
  if #found == 0 then
    redis.call('HSET', run, 'state', 'reporting')
    return answer(wanted())
  end
  addBlocks(found)
  redis.call('HSET', run, 'state', 'researching')
  emit(progress({}), ARGV[2])
  return answer(admit())
else
  redis.call('HSET', run, 'narration', ARGV[4])
  emit(cjson.decode(ARGV[5]), ARGV[2])
  conclude(text(run, 'outcome'), text(run, 'reason'), ARGV[2])
end
return answer(wanted())
