-- KEYS: as note.lua, then of each lane that is served before this one the runs with a task (sorted set) and those that have
-- begun (set)
-- ARGV: tasks for planning that there shall be, ms until a run that got one is looked at again, slots of all workers (0 = any number)
-- Takes runs from those that wait, the oldest first, until there are so many that have a task, and returns them. Runs that
-- have begun, have a task, or go before take the slots that there are. Those that are held for their share of a budget, which
-- have the place inf, give their places to others: to three times as many as there shall be at most.
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
