-- KEYS: as note.lua
-- ARGV: tasks for planning that there shall be, ms until a run that got one is looked at again
-- Takes runs from those that wait, the oldest first, until there are so many that have a task, and returns them.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local room = tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[5])
if room <= 0 then return {} end
local out = {}
local list = redis.call('ZPOPMIN', KEYS[4], room)
for i = 1, #list, 2 do
  redis.call('ZADD', KEYS[5], list[i + 1], list[i])
  redis.call('ZADD', KEYS[1], 'LT', now + tonumber(ARGV[2]), list[i])
  table.insert(out, list[i])
end
return out
