-- ARGV: unit, epoch, field, value ('': nothing to keep), usage (JSON; '': it cost nothing), cost in the unit of the
-- run's budget, generation. Stores what was answered at a place of the run, and what the call cost, in one step: an answer that is
-- kept is paid for, and one that is paid for is not asked for again. Of answers the first writer wins, whatever its
-- generation; returns what stands there. A usage says when the call was made: what is there already is the same call,
-- whose reply was lost. Of a run whose state has expired nothing is kept.
if state() == '' then return { 'ok', ARGV[4] } end
local unit, place, value, usage = ARGV[1], ARGV[3], ARGV[4], ARGV[5]
if usage ~= '' then
  if not redis.call('LPOS', base .. 'usage', usage) then
    redis.call('RPUSH', base .. 'usage', usage)
    local left = redis.call('PTTL', run)
    if left > 0 then redis.call('PEXPIRE', base .. 'usage', left) end
    if ARGV[6] ~= '0' then
      redis.call('HINCRBY', run, 'spent', ARGV[6])
      redis.call('HINCRBY', work, unit .. ':spent', ARGV[6])
    end
  end
  redis.call('HDEL', base .. 'calls', unit .. ' ' .. ARGV[7] .. ' ' .. place)
end
if value == '' or ended() or num(run, 'epoch') ~= tonumber(ARGV[2]) then return { 'ok', value } end
local key = base .. 'journal:' .. unit
if redis.call('HSETNX', key, place, value) == 1 then
  redis.call('HINCRBY', work, unit .. ':entries', 1) -- progress, by which poison is told from bad luck
  return { 'ok', value }
end
return { 'ok', redis.call('HGET', key, place) }
