-- ARGV: takeover (1: lapsed leases may be taken over), lapses that a unit may have without progress, milliseconds until
-- the next look at a run that is worked, at one that waits
-- Returns what the run wants and nobody works, and in how many milliseconds to look again. A unit whose lease has lapsed
-- is given to a new generation; one that lapsed too often without any progress kills its workers and is ended.
local state = redis.call('HGET', run, 'state')
if not state or redis.call('HEXISTS', run, 'ended') == 1 then return { 'stale' } end
local takeover, most = ARGV[1] == '1', tonumber(ARGV[2])

-- lapsed gives a lapsed unit to its next generation and returns how often it lapsed without progress.
local function lapsed(unit)
  local mark = redis.call('HGET', blocks, unit .. ':iterations') or '0'
  local n = 1
  if redis.call('HGET', work, unit .. ':mark') == mark then n = num(work, unit .. ':lapses') + 1 end
  redis.call('HSET', work, unit .. ':mark', mark, unit .. ':lapses', n, unit .. ':gen', generation(unit) + 1,
    unit .. ':owner', '', unit .. ':lease', 0)
  return n
end

local list = wanted()
for i = 1, #list, 2 do
  local unit = list[i]
  local owner = redis.call('HGET', work, unit .. ':owner') or ''
  if takeover and owner ~= '' and num(work, unit .. ':lease') <= now and lapsed(unit) >= most then
    local reason = 'its workers ended ' .. most .. ' times without any progress'
    if unit == 'plan' then
      finish('plan', 'failed', 'planning: ' .. reason, '', 0, {}, generation('plan'))
      return { 'stale' }
    elseif unit ~= 'report' then -- a report goes on without its model: see Begun.Lapses
      endBlock(unit, 'FAILED', reason, '[]', {}, generation(unit))
    end
  end
end
local out = {}
list = wanted()
for i = 1, #list, 2 do
  if (redis.call('HGET', work, list[i] .. ':owner') or '') == '' then
    table.insert(out, list[i])
    table.insert(out, list[i + 1])
  end
end
if redis.call('HGET', run, 'state') == 'queued' then return { 'ok', lane(), out, ARGV[4] } end
return { 'ok', lane(), out, ARGV[3] }
