-- ARGV: unit, generation, owner, lease (ms)
local unit, gen, owner, lease = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
if state() == '' or generation(unit) ~= gen or not wants(unit) then return { 'stale' } end
if num(work, unit .. ':lease') > now and text(work, unit .. ':owner') ~= owner then return { 'held' } end
if unit ~= 'publish' then
  tick(held(unit) and num(run, 'grace') or 0)
  redis.call('HSETNX', run, 'beat', now)
  redis.call('HSET', run, 'grace', math.floor(lease / 2))
end
redis.call('HSET', work, unit .. ':gen', gen, unit .. ':owner', owner, unit .. ':lease', now + lease)
dropCalls(unit)
if unit == 'plan' then
  redis.call('HSET', run, 'state', 'planning')
  if redis.call('HSETNX', run, 'started', now) == 1 then
    local final, duration = num(run, 'deadline'), num(run, 'duration')
    if duration > 0 then
      redis.call('HSET', run, 'until', now + duration)
      if final == 0 or now + duration < final then final = now + duration end
    end
    if final > 0 then
      -- Reserve the time for writing first, but at most half of the total.
      local reserve = math.min(num(run, 'reserve'), math.floor(math.max(final - now, 0) / 2))
      redis.call('HSET', run, 'final', final, 'seal', final - reserve)
    end
  end
end
-- left returns the time (ms) until a stored time; -1 if there is none.
local function left(field)
  local at = num(run, field)
  if at == 0 then return -1 end
  return math.max(at - now, 0)
end
local lapses, epoch = num(work, unit .. ':lapses'), num(run, 'epoch')
if not string.find(unit, '^block_') then
  return { 'ok', lapses, epoch, left('seal'), left('final') }
end
redis.call('HSET', blocks, unit .. ':status', 'RESEARCHING', unit .. ':updated', now)
if redis.call('HSETNX', blocks, unit .. ':began', now) == 1 then redis.call('HSET', work, unit .. ':idle', num(run, 'idle')) end
local spent = now - num(blocks, unit .. ':began') - (num(run, 'idle') - num(work, unit .. ':idle'))
local view = redis.call('HGET', work, unit .. ':view')
if not view then view = freeze(unit) end
return { 'ok', lapses, epoch, left('seal'), left('final'), view, spent, text(work, unit .. ':memory'),
  text(work, unit .. ':admissions') }
