-- ARGV: unit, epoch, field, value. Stores what was answered at a place of the run; the first writer wins, whatever its
-- generation. Returns what stands there.
if ended() or state() == '' or num(run, 'epoch') ~= tonumber(ARGV[2]) then return { 'ok', ARGV[4] } end
local key = base .. 'journal:' .. ARGV[1]
if redis.call('HSETNX', key, ARGV[3], ARGV[4]) == 1 then
  redis.call('HINCRBY', work, ARGV[1] .. ':entries', 1) -- progress, by which poison is told from bad luck
  return { 'ok', ARGV[4] }
end
return { 'ok', redis.call('HGET', key, ARGV[3]) }
