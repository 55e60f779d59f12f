-- KEYS: as note.lua
-- ARGV: tasks for planning that there shall be, ms until a run that got one is looked at again
-- Takes runs from those that wait, the oldest first, until there are so many that have a task, and returns them. Those that are held for
-- their share of a budget, which have the place inf, give their places to others: to three times as many as there shall be at most.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local tasks, fed = tonumber(ARGV[1]), redis.call('ZCARD', KEYS[5])
local room = tasks - fed + math.min(3 * tasks, redis.call('ZCOUNT', KEYS[5], '+inf', '+inf'))
if room <= 0 then return {} end
local out = {}
local list = redis.call('ZPOPMIN', KEYS[4], room)
for i = 1, #list, 2 do
  redis.call('ZADD', KEYS[5], list[i + 1], list[i])
  redis.call('ZADD', KEYS[1], 'LT', now + tonumber(ARGV[2]), list[i])
  table.insert(out, list[i])
end
return out
