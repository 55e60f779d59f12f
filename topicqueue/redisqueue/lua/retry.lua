-- ARGV: what (blocks: failed and incomplete blocks; report: the report; all: the whole run), maximum iterations of a block,
-- token of the call, own budget (0 = none). Continues an ended run with its next epoch.
if text(run, 'retried') == ARGV[3] then return answer(wanted()) end -- repeated call: its reply was lost
if not ended() then return { 'running' } end
local what = ARGV[1]
if redis.call('EXISTS', base .. 'plan') == 0 then what = 'all' end
local again, told, titles = {}, {}, {}
for n = 1, num(run, 'blocks') do
  local id = 'block_' .. n
  local reason = text(blocks, id .. ':reason')
  local status = text(blocks, id .. ':status')
  table.insert(titles, cjson.decode(text(blocks, id)).title)
  if what == 'blocks' and not (status == 'COMPLETED' and reason == '') then
    table.insert(again, id)
  else
    table.insert(told, doneEvents(id, status, reason))
  end
end
redis.call('HINCRBY', run, 'epoch', 1)
redis.call('HSET', run, 'retried', ARGV[3])
for _, key in ipairs(kept()) do redis.call('PERSIST', key) end
redis.call('HDEL', run, 'ended', 'reason', 'report', 'sealed', 'published', 'unpublished', 'outcome', 'tally', 'narration', 'started', 'final', 'seal', 'missed', 'open', 'wave', 'hosts', 'deadline', 'loop', 'cuts', 'beat', 'idle', 'until')
if redis.call('HEXISTS', run, 'limit') == 1 then -- the budget starts over, in addition to what was spent
  local spent, own = num(run, 'spent'), tonumber(ARGV[4])
  if own > 0 then redis.call('HSET', run, 'ceiling', spent + own) end
  redis.call('HSET', run, 'limit', spent + math.max(own, 1))
end
redis.call('HSET', run, 'since', num(run, 'seq')) -- the events of this epoch have larger numbers
redis.call('DEL', events, once, base .. 'report')
for _, unit in ipairs({ 'plan', 'review', 'report', 'narrate', 'publish' }) do
  fence(unit)
  redis.call('HDEL', work, unit .. ':lapses', unit .. ':mark', unit .. ':ended', unit .. ':forced')
end
for _, id in ipairs(again) do
  fence(id)
  redis.call('HDEL', work, id .. ':lapses', id .. ':mark', id .. ':ended', id .. ':view')
  redis.call('HDEL', blocks, id .. ':began')
  -- A block that has used all iterations without findings starts over, and may repeat its queries.
  if num(blocks, id .. ':iterations') >= tonumber(ARGV[2]) then
    redis.call('HDEL', blocks, id .. ':iterations')
    redis.call('HDEL', work, id .. ':memory', id .. ':admissions')
    redis.call('DEL', base .. 'traces:' .. id)
    for _, list in ipairs({ queries, ledger, returned }) do
      for _, item in ipairs(redis.call('LRANGE', list, 0, -1)) do
        if string.sub(item, 1, #id + 1) == id .. '\t' then redis.call('LREM', list, 1, item) end
      end
    end
  end
  redis.call('HSET', blocks, id .. ':status', 'PENDING', id .. ':reason', '', id .. ':fallbacks', '')
end
redis.call('DEL', todo, active)
if what == 'all' then
  for n = 1, num(run, 'blocks') do
    redis.call('DEL', base .. 'traces:block_' .. n, base .. 'journal:block_' .. n)
    fence('block_' .. n)
  end
  for _, field in ipairs(redis.call('HKEYS', work)) do
    if not string.find(field, ':gen$') then redis.call('HDEL', work, field) end
  end
  redis.call('DEL', blocks, queries, ledger, returned, base .. 'plan', base .. 'traces:plan')
  redis.call('HDEL', run, 'blocks', 'processed', 'review', 'evidence', 'path')
  redis.call('HSET', run, 'state', 'queued')
  return answer({})
end
-- Planning is done, so the time of the run starts now.
redis.call('HSET', run, 'started', now, 'beat', now, 'processed', num(run, 'blocks') - #again)
if num(run, 'duration') > 0 then
  local final = now + num(run, 'duration')
  redis.call('HSET', run, 'until', final, 'final', final, 'seal', final - math.min(num(run, 'reserve'), math.floor(num(run, 'duration') / 2)))
end
if #again > 0 then redis.call('RPUSH', todo, unpack(again)) end
if what ~= 'report' then redis.call('HDEL', run, 'review') end -- the old review is obsolete
redis.call('HSET', run, 'state', 'researching')
-- The stream starts over, and readers do not know the previous one, so completed steps are emitted again.
for _, field in ipairs(redis.call('HKEYS', work)) do
  if string.find(field, '^step ') then redis.call('HDEL', work, field) end
end
local list = {}
for _, name in ipairs({ 'start_query_rewriter', 'end_query_rewriter_no_feedback', 'start_search_background',
  'end_search_background', 'start_research_planner' }) do
  table.insert(list, step(name, 'done before'))
end
table.insert(list, { key = 'research_questions', block = '', status = 'research_questions',
  content = cjson.encode({ questions = titles }) })
table.insert(list, step('end_research_planner', 'done before'))
table.insert(list, step('start_iterative_research', ''))
local function count(processed)
  return { key = '', block = '', status = 'ir_progress',
    content = string.format('{"processed_tasks":%d,"total_task":%d}', processed, num(run, 'blocks')) }
end
table.insert(list, count(0))
for i, done in ipairs(told) do
  for _, e in ipairs(done) do table.insert(list, e) end
  table.insert(list, count(i))
end
emit(list, 0)
if what == 'report' then
  redis.call('HSET', run, 'loop', num(run, 'loops'))
end
return answer(settled(admit()))
