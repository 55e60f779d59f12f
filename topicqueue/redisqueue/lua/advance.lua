-- ARGV: unit, generation, stuck (ms). The job queue has a task for this generation that will never begin: one that is
-- over, or (stuck > 0) one that began nothing for so long. Gives the unit to the next generation.
local unit, gen, stuck = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
if generation(unit) ~= gen or not wants(unit) or text(work, unit .. ':owner') ~= '' then return answer({}) end
if stuck > 0 then
  local field = unit .. ':stuck:' .. gen
  redis.call('HSETNX', work, field, now)
  if now - num(work, field) < stuck then return answer({}) end
end
redis.call('HSET', work, unit .. ':gen', gen + 1)
return answer({ unit, tostring(gen + 1) })
