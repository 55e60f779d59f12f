-- KEYS[1] is the hash of one run. All keys of the run share its prefix and hash tag, so they are in one slot.
local base = string.sub(KEYS[1], 1, -4)
local run, work, blocks = KEYS[1], base .. 'work', base .. 'blocks'
local todo, active = base .. 'todo', base .. 'active'
local queries, events, once = base .. 'queries', base .. 'events', base .. 'once'
local ledger, returned = base .. 'ledger', base .. 'returned'

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function num(key, field) return tonumber(redis.call('HGET', key, field) or '0') or 0 end
local function text(key, field) return redis.call('HGET', key, field) or '' end
local function state() return text(run, 'state') end
local function ended() return redis.call('HEXISTS', run, 'ended') == 1 end
local function paused() return redis.call('HEXISTS', run, 'paused') == 1 end
local function lane() return text(run, 'lane') end

-- generation returns the number of the valid attempt at a unit (plan, block_n, review, report, narrate, publish).
local function generation(unit)
  local g = num(work, unit .. ':gen')
  if g == 0 then return 1 end
  return g
end

-- tick updates the clock of the run. At most this many ms since the last sign of life of its workers count. The rest
-- postpones the end of research and of the run, but not the deadline.
local function tick(most)
  local beat = num(run, 'beat')
  if beat == 0 or ended() then return end
  local idle = now - beat - math.max(0, math.min(now - beat, most))
  if idle == 0 then return end
  redis.call('HINCRBY', run, 'idle', idle)
  redis.call('HSET', run, 'beat', beat + idle)
  local final, till, deadline = num(run, 'final'), num(run, 'until'), num(run, 'deadline')
  if till == 0 then return end
  local reserve = final - num(run, 'seal')
  till = till + idle
  final = till
  if deadline > 0 and deadline < till then final = deadline end
  redis.call('HSET', run, 'until', till, 'final', final, 'seal', final - reserve)
end

-- holds reports whether the owner still holds the lease of this generation. The call counts as a sign of life.
local function holds(unit, gen, owner)
  if generation(unit) ~= tonumber(gen) or redis.call('HGET', work, unit .. ':owner') ~= owner then return false end
  if num(run, 'beat') > 0 and not ended() then
    tick(num(run, 'grace'))
    redis.call('HSET', run, 'beat', now)
  end
  return true
end

-- dropCalls releases the reservations for calls of a unit whose attempt has ended.
local function dropCalls(unit)
  for _, call in ipairs(redis.call('HKEYS', base .. 'calls')) do
    if string.sub(call, 1, #unit + 1) == unit .. ' ' then redis.call('HDEL', base .. 'calls', call) end
  end
end

-- release clears the owner of a unit.
local function release(unit) redis.call('HSET', work, unit .. ':owner', '', unit .. ':lease', 0) end

-- fence moves a unit to its next generation. Writes of the current attempt are rejected from now on.
local function fence(unit)
  dropCalls(unit)
  redis.call('HSET', work, unit .. ':gen', generation(unit) + 1, unit .. ':owner', '', unit .. ':lease', 0)
end

-- Maximum number of events in a stream. A run has about a thousand; the limit protects the memory from runaway runs.
local keep = 10000

-- emit appends events. An event with a key is appended only once per run. emit assigns the position: a wave begins with
-- research and with the author, lane 0 belongs to the run and lane n to block n, and steps count up within a lane, across
-- attempts. The status is added to the content, a JSON object with at least one field, as its type.
local function emit(list, attempt)
  for _, e in ipairs(list) do
    if e.key == '' or redis.call('SADD', once, e.key) == 1 then
      if e.status == 'pipeline_step' then
        local name = cjson.decode(e.content).step_key
        if name == 'start_iterative_research' or name == 'start_author' then redis.call('HINCRBY', run, 'wave', 1) end
        local verb, of = string.match(name, '^(%a+)_(.+)')
        if verb == 'end' or verb == 'fail' then redis.call('HDEL', run, 'open') end
        if verb == 'start' and of ~= 'iterative_research' then redis.call('HSET', run, 'open', of) end
      end
      for _, host in ipairs(e.hosts or {}) do
        if redis.call('SADD', once, 'host ' .. host) == 1 then redis.call('HINCRBY', run, 'hosts', 1) end
      end
      local wave, lane = num(run, 'wave'), 0
      if e.block ~= '' then lane = tonumber(string.sub(e.block, 7)) end
      local field, call = 'step ' .. wave .. ' ' .. lane, e.call or 0
      if call == 0 then redis.call('HINCRBY', work, field, 1) end
      local seq = redis.call('HINCRBY', run, 'seq', 1)
      redis.call('XADD', events, 'MAXLEN', '~', keep, seq .. '-0', 'time', now, 'block', e.block, 'attempt', attempt,
        'wave', wave, 'lane', lane, 'step', math.max(num(work, field) - 1, 0), 'call', call,
        'status', e.status, 'content', '{"type":' .. cjson.encode(e.status) .. ',' .. string.sub(e.content, 2),
        'meta', e.meta or '')
    end
  end
end

-- step returns a pipeline_step event. The possible ends of a step share a key, as in topicqueue.StepEvent.
local function step(name, info)
  local key = name
  local verb, of = string.match(name, '^(%a+)_(.+)')
  if verb == 'end' or verb == 'fail' then
    if of == 'clarification' or string.match(of, '^follow_up') then of = 'follow_up' end
    if string.match(of, 'render_report$') then of = 'render_report' end
    key = 'close_start_' .. string.gsub(of, '_no_feedback$', '')
  end
  return { key = key, block = '', status = 'pipeline_step', content = cjson.encode({ step_key = name, info = info }) }
end

local function progress(list)
  table.insert(list, { key = '', block = '', status = 'ir_progress',
    content = string.format('{"processed_tasks":%d,"total_task":%d}', num(run, 'processed'), num(run, 'blocks')) })
  return list
end

-- admit activates waiting blocks up to the limit of the run, and returns them as unit, generation, ...
local function admit()
  local out = {}
  if paused() then return out end
  local limit = num(run, 'parallel')
  while redis.call('ZCARD', active) < limit do
    local id = redis.call('LPOP', todo)
    if not id then break end
    redis.call('ZADD', active, tonumber(string.sub(id, 7)), id)
    table.insert(out, id)
    table.insert(out, tostring(generation(id)))
  end
  return out
end

-- stage is the unit of a run in each state. The units of researching are the blocks.
local stage = { queued = 'plan', planning = 'plan', reviewing = 'review', reporting = 'report', narrating = 'narrate' }

-- wanted returns all tasks that the run needs now, computed from its state alone.
local function wanted()
  if ended() then
    if redis.call('HEXISTS', run, 'published') == 1 then return {} end
    return { 'publish', tostring(generation('publish')) }
  end
  if paused() then return {} end
  local s = state()
  if stage[s] then return { stage[s], tostring(generation(stage[s])) } end
  local out = {}
  if s == 'researching' then
    for _, id in ipairs(redis.call('ZRANGE', active, 0, -1)) do
      table.insert(out, id)
      table.insert(out, tostring(generation(id)))
    end
  end
  return out
end

-- held reports whether a unit that the run needs, or that is active while the run is paused, has an owner. but: a unit to
-- ignore.
local function held(but)
  local unit = stage[state()]
  if unit then return unit ~= but and text(work, unit .. ':owner') ~= '' end
  for _, id in ipairs(redis.call('ZRANGE', active, 0, -1)) do
    if id ~= but and text(work, id .. ':owner') ~= '' then return true end
  end
  return false
end

-- answer builds the reply of all scripts that return tasks: lane, tasks, state of the run. The tasks start with the first
-- bytes of topic and batch and the path of the run. Each task has the title of its block.
local function answer(list, ...)
  local tasks = {}
  if #list > 0 then tasks = { string.sub(text(run, 'topic'), 1, 400), string.sub(text(run, 'batch'), 1, 400), text(run, 'path') } end
  for i = 1, #list, 2 do
    local title = ''
    if string.find(list[i], '^block_') then title = string.sub(cjson.decode(text(blocks, list[i])).title, 1, 400) end
    for _, value in ipairs({ list[i], list[i + 1], title }) do table.insert(tasks, value) end
  end
  return { 'ok', lane(), tasks, state(), ... }
end

-- wants reports whether the run needs this unit now.
local function wants(unit)
  if unit == 'publish' then return ended() and redis.call('HEXISTS', run, 'published') == 0 end
  if ended() or paused() then return false end
  local s = state()
  if stage[s] then return stage[s] == unit end
  return s == 'researching' and redis.call('ZSCORE', active, unit)
end

-- addBlocks appends waiting blocks. list: JSON texts in the order of their numbers.
local function addBlocks(list)
  for _, item in ipairs(list) do
    local id = 'block_' .. redis.call('HINCRBY', run, 'blocks', 1)
    redis.call('HSET', blocks, id, item, id .. ':status', 'PENDING', id .. ':created', now, id .. ':updated', now)
    redis.call('RPUSH', todo, id)
  end
end

-- freeze stores the view of the next iteration: the number of blocks, queries and digests of the run, which only grow.
local function freeze(unit)
  local view = num(run, 'blocks') .. ':' .. redis.call('LLEN', queries) .. ':' .. redis.call('LLEN', ledger)
  redis.call('HSET', work, unit .. ':view', view)
  return view
end

-- doneEvents returns the events for a block that has ended.
local function doneEvents(unit, status, reason)
  local content = { question_id = tonumber(string.sub(unit, 7)), status = 'done' }
  if status == 'FAILED' then content.status, content.message = 'failed', reason end
  local list = { { key = unit .. '/done', block = unit, status = 'ir_question_done', content = cjson.encode(content) } }
  if status == 'FAILED' then
    local failed = step('iterative_research_task_failed', reason)
    failed.key, failed.block = unit .. '/failed', unit
    table.insert(list, failed)
  end
  return list
end

-- closeBlock stores the end of a block and emits its events. attempt: its last attempt, 0 if there was none.
local function closeBlock(unit, status, reason, attempt)
  redis.call('HSET', blocks, unit .. ':status', status, unit .. ':reason', reason, unit .. ':updated', now)
  redis.call('ZREM', active, unit)
  redis.call('HINCRBY', run, 'processed', 1)
  if status == 'FAILED' then redis.call('HSET', work, unit .. ':failed', attempt) end
  redis.call('DEL', base .. 'journal:' .. unit)
  dropCalls(unit)
  emit(progress(doneEvents(unit, status, reason)), attempt)
end

-- settled moves a run on if no block is left. It returns the tasks that the run needs next.
local function settled(list)
  if state() ~= 'researching' or redis.call('ZCARD', active) > 0 or redis.call('LLEN', todo) > 0 then return list end
  -- a run that is a single answer has no blocks to review
  local reviews = text(run, 'path') ~= 'shallow' and num(run, 'loops') or 0
  if num(run, 'loop') < reviews and redis.call('HEXISTS', run, 'sealed') == 0 then
    redis.call('HSET', run, 'state', 'reviewing')
  else
    redis.call('HSET', run, 'state', 'reporting')
  end
  return wanted()
end

-- endBlock ends an active block. It returns the tasks that the run needs next.
local function endBlock(unit, status, reason, attempt)
  release(unit)
  closeBlock(unit, status, reason, attempt)
  return settled(admit())
end

-- closeStep ends the open step, so that every started step ends, however the run ends.
local function closeStep(reason, attempt)
  local of = redis.call('HGET', run, 'open')
  if not of then return end
  local closing = { query_rewriter = 'end_query_rewriter_no_feedback', follow_up = 'fail_clarification',
    render_report = 'fail_all_render_report' }
  emit({ step(closing[of] or 'fail_' .. of, reason) }, attempt)
end

-- dropBlocks ends all unfinished blocks. Active blocks are fenced. Blocks with findings count as completed.
local function dropBlocks(reason)
  local function drop(id, attempt, why)
    if redis.call('LLEN', base .. 'traces:' .. id) > 0 then
      closeBlock(id, 'COMPLETED', 'cut short: ' .. reason, attempt)
    else
      closeBlock(id, 'FAILED', why .. reason, attempt)
    end
  end
  for _, id in ipairs(redis.call('ZRANGE', active, 0, -1)) do
    local attempt = generation(id)
    fence(id)
    drop(id, attempt, 'not finished: ')
  end
  for _, id in ipairs(redis.call('LRANGE', todo, 0, -1)) do drop(id, 0, 'not begun: ') end
  redis.call('DEL', todo)
end

local aborted = 'iterative_research_pipeline_aborted'

-- seal ends the research: waiting blocks are dropped, active units are fenced, and the report is next.
local function seal(reason)
  if ended() or redis.call('HEXISTS', run, 'sealed') == 1 then return end
  redis.call('HSET', run, 'sealed', reason)
  local s = state()
  if s == 'reporting' or s == 'narrating' then return end
  if stage[s] then fence(stage[s]) end
  dropBlocks(reason)
  closeStep(reason, 0)
  if redis.call('EXISTS', base .. 'plan') == 1 then emit({ step(aborted, reason) }, 0) end -- otherwise the plan has failed
  redis.call('HSET', run, 'state', 'reporting')
end

-- conclude ends the run. Only publishing its results remains.
local function conclude(final, reason, attempt)
  redis.call('HSET', run, 'state', final, 'reason', reason, 'ended', now)
  redis.call('HDEL', run, 'paused')
  redis.call('DEL', base .. 'calls')
  for _, unit in ipairs({ 'plan', 'review', 'report', 'narrate' }) do
    redis.call('DEL', base .. 'journal:' .. unit)
    if text(work, unit .. ':owner') ~= '' then fence(unit) end
  end
  closeStep(reason, attempt)
  if redis.call('EXISTS', base .. 'plan') == 0 and final == 'failed' then -- each of these is sent at most once
    for _, name in ipairs({ 'start_query_rewriter', 'end_query_rewriter_no_feedback', 'start_search_background',
      'fail_search_background', 'start_research_planner', 'fail_research_planner' }) do
      emit({ step(name, reason) }, attempt)
    end
  elseif final == 'cancelled' or redis.call('SISMEMBER', once, 'start_author') == 0 then
    emit({ step(aborted, reason) }, attempt)
  end
  local used = (now - (tonumber(redis.call('HGET', run, 'started')) or now)) / 60000
  emit({
    { key = 'summary_statistics', block = '', status = 'summary_statistics',
      content = string.format('{"used_time":%.3f,"website_num":%d}', used, num(run, 'hosts')) },
    { key = 'complete', block = '', status = 'complete', content = cjson.encode({ state = final, reason = reason }) },
  }, attempt)
end

-- unspoken stores why a report is not read aloud.
local function unspoken(why) redis.call('HSET', run, 'narration', cjson.encode({ problem = why })) end

-- breakOff ends a run during its narration, with the outcome that its report committed.
local function breakOff(why, attempt)
  unspoken(why)
  closeStep(why, attempt)
  conclude(text(run, 'outcome'), text(run, 'reason'), attempt)
end

-- kept returns the keys of an ended run that remain until they expire.
local function kept()
  local keys = { run, work, blocks, queries, ledger, returned, events, once, base .. 'plan', base .. 'traces:plan', base .. 'usage' }
  for n = 1, num(run, 'blocks') do table.insert(keys, base .. 'traces:block_' .. n) end
  return keys
end
