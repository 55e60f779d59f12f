-- ARGV: takeover (1: expired leases may be taken over), maximum number of expired leases of a unit without progress, time
-- (ms) until the next check of a run that is worked on, owner and lease (ms) of the sweeper
-- Returns the needed tasks without an owner, the time (ms) until the next check (-1: none needed), after the run's final
-- time the generation of its report, which the sweeper then owns, whether the final time has passed since the last check,
-- and the number of expired leases. A unit with an expired lease gets a new generation. A unit whose leases expire too
-- often without progress kills its workers and is ended.
if state() == '' or redis.call('HEXISTS', run, 'published') == 1 then return { 'stale' } end
local takeover, most = ARGV[1] == '1', tonumber(ARGV[2])
local forced, missed, lapses = 0, 0, 0

if not ended() then
  tick(held() and num(run, 'grace') or 0)
  local final = num(run, 'final')
  if final == 0 then final = num(run, 'deadline') end
  local s = state()
  if final > 0 and now >= final then
    missed = redis.call('HSETNX', run, 'missed', now)
    if s == 'queued' then
      conclude('failed', 'its deadline passed before a worker had time for it', 0)
    elseif s == 'narrating' then
      breakOff('the time of the run was used up', 0)
    else
      seal('the time of the run was used up')
      if num(work, 'report:forced') <= now then -- no other sweeper is writing it
        forced = generation('report') + 1
        redis.call('HSET', work, 'report:gen', forced, 'report:owner', ARGV[4], 'report:lease', now + tonumber(ARGV[5]),
          'report:forced', now + tonumber(ARGV[5]) / 4)
      end
    end
  elseif num(run, 'seal') > 0 and now >= num(run, 'seal') and s ~= 'queued' then
    seal('the time for research was over')
  end
end

-- The waiting time for an answer is over, so planning continues without it.
local asks = text(run, 'asks')
local patience = 0
if state() == 'awaiting_input' then
  patience = num(run, 'patience:' .. asks)
  if patience > 0 and now >= patience then
    redis.call('HSET', run, 'reply:' .. asks, '{"outcome":"missed"}', 'replied:' .. asks, now, 'state', 'planning')
  end
end

-- lapsed moves a unit with an expired lease to its next generation. It returns the number of expiries without progress.
local function lapsed(unit)
  local mark = num(blocks, unit .. ':iterations') .. '/' .. num(work, unit .. ':entries')
  local n = 1
  if redis.call('HGET', work, unit .. ':mark') == mark then n = num(work, unit .. ':lapses') + 1 end
  lapses = lapses + 1
  redis.call('HSET', work, unit .. ':mark', mark, unit .. ':lapses', n)
  fence(unit)
  return n
end

local list = wanted()
for i = 1, #list, 2 do
  local unit = list[i]
  if takeover and text(work, unit .. ':owner') ~= '' and num(work, unit .. ':lease') <= now and lapsed(unit) >= most then
    local reason = 'its workers ended ' .. most .. ' times without any progress'
    if unit == 'plan' then
      conclude('failed', 'planning: ' .. reason, generation('plan'))
    elseif unit == 'review' then
      redis.call('HSET', run, 'state', 'reporting', 'review', cjson.encode({ not_done = reason }))
    elseif unit == 'narrate' then
      breakOff(reason, generation('narrate'))
    elseif string.find(unit, '^block_') then -- a report continues without its model, see Begun.Lapses; publishing continues
      endBlock(unit, 'FAILED', reason, generation(unit) - 1)
    end
  end
end
local out = {}
list = wanted()
for i = 1, #list, 2 do
  if text(work, list[i] .. ':owner') == '' then
    table.insert(out, list[i])
    table.insert(out, list[i + 1])
  end
end
local next = tonumber(ARGV[3])
if not ended() then
  local final, deadline = num(run, 'final'), num(run, 'deadline')
  local reserve = final - num(run, 'seal')
  -- A person, the end of the waiting time or the feeder continues such a run. Its clock stops meanwhile.
  if state() == 'queued' or state() == 'awaiting_input' or paused() and not held() then next, final = -1, deadline end
  for _, at in ipairs({ final - reserve, final, patience }) do
    if at > now and (next < 0 or at - now < next) then next = at - now end
  end
end
return answer(out, next, forced, missed, lapses, paused() and 1 or 0)
