-- ARGV: unit, generation, owner, lease (ms)
local unit, gen, owner, lease = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local state = redis.call('HGET', run, 'state')
if not state or generation(unit) ~= gen then return { 'stale' } end
if unit == 'plan' then
  if state ~= 'queued' and state ~= 'planning' then return { 'stale' } end
elseif unit == 'report' then
  if state ~= 'reporting' then return { 'stale' } end
elseif state ~= 'researching' or not redis.call('ZSCORE', active, unit) then
  return { 'stale' }
end
if num(work, unit .. ':lease') > now then return { 'held' } end
redis.call('HSET', work, unit .. ':gen', gen, unit .. ':owner', owner, unit .. ':lease', now + lease)
if unit == 'plan' then
  redis.call('HSET', run, 'state', 'planning')
  redis.call('HSETNX', run, 'started', now)
  return { 'ok', '' }
end
if unit == 'report' then return { 'ok', '', num(work, 'report:lapses') } end
redis.call('HSET', blocks, unit .. ':status', 'RESEARCHING', unit .. ':updated', now)
local view = redis.call('HGET', work, unit .. ':view')
if not view then view = freeze(unit) end
return { 'ok', view }
