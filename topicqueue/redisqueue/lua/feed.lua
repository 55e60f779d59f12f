-- KEYS: as in note.lua, then for each lane of higher priority: runs with a task (sorted set), runs that have begun (set)
-- ARGV: wanted number of planning tasks, time (ms) until the next check of a fed run, slots of all workers (0 = unlimited)
-- Moves waiting runs, oldest first, to the runs with a task until their number is reached, and returns them. Slots are
-- taken by runs that have begun, have a task, or are in a lane of higher priority. Runs held for their share of a budget
-- (place inf) do not count, up to three times the wanted number.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local tasks, slots = tonumber(ARGV[1]), tonumber(ARGV[3])
local fed = redis.call('ZCARD', KEYS[5]) - math.min(3 * tasks, redis.call('ZCOUNT', KEYS[5], '+inf', '+inf'))
if slots > 0 then
  slots = slots - redis.call('SCARD', KEYS[7])
  for i = 8, #KEYS, 2 do
    slots = slots - redis.call('ZCOUNT', KEYS[i], '-inf', '(+inf') - redis.call('SCARD', KEYS[i + 1])
  end
  tasks = math.min(tasks, slots)
end
if tasks <= fed then return {} end
local out = {}
local list = redis.call('ZPOPMIN', KEYS[4], tasks - fed)
for i = 1, #list, 2 do
  redis.call('ZADD', KEYS[5], list[i + 1], list[i])
  redis.call('ZADD', KEYS[1], 'LT', now + tonumber(ARGV[2]), list[i])
  table.insert(out, list[i])
end
return out
