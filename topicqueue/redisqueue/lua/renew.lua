-- ARGV: lease (ms), then unit, generation, owner of each lease. Returns the units no longer held, and whether the run is
-- paused.
local lost = {}
for i = 2, #ARGV, 3 do
  if holds(ARGV[i], ARGV[i + 1], ARGV[i + 2]) then
    redis.call('HSET', work, ARGV[i] .. ':lease', now + tonumber(ARGV[1]))
  else
    table.insert(lost, ARGV[i])
  end
end
return { 'ok', lost, paused() and 1 or 0 }
