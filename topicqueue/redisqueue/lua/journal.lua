-- ARGV: unit, epoch, field, value ('': store none), usage (JSON; '': no cost), cost in the unit of the run's budget,
-- generation. Stores the answer at a place of the run and the cost of its call in one step, so that a stored answer is
-- paid for and no paid call is repeated. The first stored answer wins, whatever its generation, and is returned. A usage
-- contains the time of its call, so an equal usage is a repeated call whose reply was lost. If the run's state has
-- expired, nothing is stored.
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
  redis.call('HINCRBY', work, unit .. ':entries', 1) -- progress: see sweep.lua
  return { 'ok', value }
end
return { 'ok', redis.call('HGET', key, place) }
