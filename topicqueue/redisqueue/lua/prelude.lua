-- KEYS[1] is the hash of one run. All keys of the run share its prefix and hash tag, so they lie in one slot.
local base = string.sub(KEYS[1], 1, -4)
local run, work, blocks = KEYS[1], base .. 'work', base .. 'blocks'
local todo, active = base .. 'todo', base .. 'active'
local queries, events, once = base .. 'queries', base .. 'events', base .. 'once'

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function num(key, field) return tonumber(redis.call('HGET', key, field) or '0') or 0 end

-- generation returns which attempt at a unit (plan, block_n, report) is the valid one.
local function generation(unit)
  local g = num(work, unit .. ':gen')
  if g == 0 then return 1 end
  return g
end

-- holds reports whether this owner took the lease of this generation and nobody took it since.
local function holds(unit, gen, owner)
  return generation(unit) == tonumber(gen) and redis.call('HGET', work, unit .. ':owner') == owner
end

-- emit appends events; one with a key only once in the life of the run.
local function emit(list, attempt)
  for _, e in ipairs(list) do
    if e.key == '' or redis.call('SADD', once, e.key) == 1 then
      local seq = redis.call('HINCRBY', run, 'seq', 1)
      redis.call('XADD', events, seq .. '-0', 'time', now, 'block', e.block, 'attempt', attempt,
        'place', e.place, 'status', e.status, 'content', e.content, 'meta', e.meta)
    end
  end
end

local function step(key, info)
  return { key = key, block = '', place = '{}', status = 'pipeline_step', meta = '',
    content = cjson.encode({ step_key = key, info = info }) }
end

local function progress(list, attempt)
  table.insert(list, { key = '', block = '', place = '{}', status = 'ir_progress', meta = '',
    content = string.format('{"processed_tasks":%d,"total_task":%d}', num(run, 'processed'), num(run, 'blocks')) })
  return list
end

-- admit moves waiting blocks into flight while the run may have more, and returns them as unit, generation, ...
local function admit()
  local out = {}
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

-- wanted computes every task that the run wants now from its state alone.
local function wanted()
  local state = redis.call('HGET', run, 'state')
  if state == 'queued' or state == 'planning' then return { 'plan', tostring(generation('plan')) } end
  if state == 'reporting' then return { 'report', tostring(generation('report')) } end
  local out = {}
  if state == 'researching' then
    for _, id in ipairs(redis.call('ZRANGE', active, 0, -1)) do
      table.insert(out, id)
      table.insert(out, tostring(generation(id)))
    end
  end
  return out
end

-- addBlocks appends blocks to the waiting ones. list: one JSON text each, in the order of their numbers.
local function addBlocks(list)
  for _, text in ipairs(list) do
    local id = 'block_' .. redis.call('HINCRBY', run, 'blocks', 1)
    redis.call('HSET', blocks, id, text, id .. ':status', 'PENDING', id .. ':created', now, id .. ':updated', now)
    redis.call('RPUSH', todo, id)
  end
end

-- freeze fixes what the next iteration of a block sees: how many blocks and queries of the run, both only ever grow.
local function freeze(unit)
  local view = num(run, 'blocks') .. ':' .. redis.call('LLEN', queries)
  redis.call('HSET', work, unit .. ':view', view)
  return view
end

local function lane() return redis.call('HGET', run, 'lane') or '' end

-- endBlock ends a block that is in flight and moves the run on when it was the last. Returns what the run wants next.
local function endBlock(unit, status, reason, fallbacks, list, attempt)
  redis.call('HSET', blocks, unit .. ':status', status, unit .. ':reason', reason, unit .. ':fallbacks', fallbacks,
    unit .. ':updated', now)
  redis.call('HSET', work, unit .. ':owner', '', unit .. ':lease', 0)
  redis.call('ZREM', active, unit)
  redis.call('HINCRBY', run, 'processed', 1)
  local lane_ = tonumber(string.sub(unit, 7))
  local place = string.format('{"lane":%d}', lane_ - 1)
  local content = { question_id = lane_, status = 'done' }
  if status == 'FAILED' then content = { question_id = lane_, status = 'failed', message = reason } end
  table.insert(list, { key = unit .. '/done', block = unit, place = place, status = 'ir_question_done', meta = '',
    content = cjson.encode(content) })
  if status == 'FAILED' then
    table.insert(list, { key = unit .. '/failed', block = unit, place = place, status = 'pipeline_step', meta = '',
      content = cjson.encode({ step_key = 'iterative_research_task_failed', info = reason }) })
  end
  emit(progress(list, attempt), attempt)
  local out = admit()
  if redis.call('ZCARD', active) == 0 and redis.call('HGET', run, 'state') == 'researching' then
    redis.call('HSET', run, 'state', 'reporting')
    out = wanted()
  end
  return out
end

-- finish ends the run.
local function finish(unit, state, reason, report, sites, list, attempt)
  redis.call('HSET', run, 'state', state, 'reason', reason, 'report', report, 'ended', now)
  redis.call('HSET', work, unit .. ':owner', '', unit .. ':lease', 0)
  table.insert(list, { key = 'summary_statistics', block = '', place = '{}', status = 'summary_statistics', meta = '',
    content = string.format('{"used_time":%.3f,"website_num":%d}', (now - num(run, 'started')) / 60000, sites) })
  table.insert(list, { key = 'complete', block = '', place = '{}', status = 'complete', meta = '',
    content = cjson.encode({ state = state }) })
  emit(list, attempt)
end
