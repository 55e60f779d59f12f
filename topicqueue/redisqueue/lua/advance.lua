-- ARGV: unit, generation, stuck (ms). Gives the unit to the next generation, because the job queue's task for this one
-- will never run: the task is over, or (stuck > 0) it has not begun for this long.
local unit, gen, stuck = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
if generation(unit) ~= gen or not wants(unit) or text(work, unit .. ':owner') ~= '' then return answer({}) end
if stuck > 0 then
  local field = unit .. ':stuck:' .. gen
  redis.call('HSETNX', work, field, now)
  if now - num(work, field) < stuck then return answer({}) end
end
redis.call('HSET', work, unit .. ':gen', gen + 1)
return answer({ unit, tostring(gen + 1) })
