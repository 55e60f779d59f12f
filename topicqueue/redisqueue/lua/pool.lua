-- A budget shared by the runs of a batch or of a night. It is divided again whenever a run asks.
-- KEYS: the pool (hash): limit; per run its kind, stage, amount, and the part of the amount that is extra; per kind and
-- stage the number of runs (n:), their total amount (sum:) and total extra (besides:).
-- Stages: waiting; active, with the amount it may spend in total; done, with the amount spent.
-- ARGV: what, run, then
--  join   kind (high, normal, low)
--  draw   kind, spent, total wanted, total needed to finish what was begun, limit of the pool, minimum reserved for a
--         waiting run, waiting runs of each kind ('': as stored in the pool), extra (granted as far as all other runs can
--         still get what this one wants), time (ms) for ask, total wanted by a run of kind high
--  ask    as draw. Returns 1 if the waiting run should begin, and draws its share. Returns 0 while other runs hold its
--         share and will return it when they ask again, but for at most the given time. The time counts from when the
--         first run of its kind was held and none has got its share since, so that many late runs wait together
--  leave  spent
-- Returns the total amount that the run may spend.
local pool, what, id = KEYS[1], ARGV[1], 'run:' .. ARGV[2]
local kinds = { high = 0, normal = 2, low = 1 } -- weights; runs of kind high get what they want
local function num(field) return tonumber(redis.call('HGET', pool, field) or '0') or 0 end
local function add(field, n)
  if n ~= 0 then redis.call('HINCRBY', pool, field, string.format('%.0f', n)) end
end

local kind, stage, amount, besides = string.match(redis.call('HGET', pool, id) or '', '^(%a+) (%a+) (%d+) ?(%d*)$')
amount, besides = tonumber(amount or '0'), tonumber(besides or '') or 0

local function move(newKind, newStage, newAmount, newBesides)
  if stage then
    add('n:' .. kind .. ':' .. stage, -1)
    add('sum:' .. kind .. ':' .. stage, -amount)
    add('besides:' .. kind .. ':' .. stage, -besides)
  end
  redis.call('HSET', pool, id, newKind .. ' ' .. newStage .. ' ' .. string.format('%.0f %.0f', newAmount, newBesides))
  add('n:' .. newKind .. ':' .. newStage, 1)
  add('sum:' .. newKind .. ':' .. newStage, newAmount)
  add('besides:' .. newKind .. ':' .. newStage, newBesides)
end

if what == 'join' then
  if not stage then move(ARGV[3], 'waiting', 0, 0) end
  return '0'
end
if what == 'leave' then
  if stage then move(kind, 'done', tonumber(ARGV[3]), 0) end
  return ARGV[3]
end

local spent, wants, needs, least = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[8])
local limit = tonumber(ARGV[7])
kind = kind or ARGV[3]
local function waiting(k, given)
  if given ~= '' then return tonumber(given) end
  local n = num('n:' .. k .. ':waiting')
  if stage == 'waiting' and k == kind then n = n - 1 end
  return n
end
-- For a night, the caller counts the waiting runs. That includes this run until it has begun.
if what == 'ask' and ARGV[9] ~= '' then
  local own = ({ high = 9, normal = 10, low = 11 })[kind]
  ARGV[own] = tostring(math.max(0, tonumber(ARGV[own]) - 1))
end
local wait = { high = waiting('high', ARGV[9]), normal = waiting('normal', ARGV[10]), low = waiting('low', ARGV[11]) }
local mine = 0
if stage == 'active' then mine = amount end
local free, waits = limit, 0 -- neither spent nor granted to others
for k in pairs(kinds) do
  free = free - num('sum:' .. k .. ':done') - num('sum:' .. k .. ':active')
  waits = waits + wait[k]
end
free = free + mine
if stage == 'done' then free = free + amount end -- a retry
free = free - waits * least
local share, fair, first -- fair: if others hold only their share; first: free without the others' minimum
local high = num('sum:high:active') - num('besides:high:active')
if kind == 'high' then
  share = math.min(wants, math.max(free, mine)) -- other kinds give way to further runs of kind high
  fair = limit - waits * least - high
  for k, weight in pairs(kinds) do
    fair = fair - num('sum:' .. k .. ':done')
    if weight > 0 then fair = fair - num('n:' .. k .. ':active') * least end
  end
  fair = math.min(wants, fair)
  if free < math.min(wants, least) then -- too little for all: high goes first
    first = free + (waits - wait.high) * least
    share = math.min(wants, math.max(first, mine))
    fair = math.max(fair, math.min(wants, least))
  end
else
  -- The rest goes to the other kinds, active or waiting: the minimum to each run, the remainder by weight.
  local known = num('n:high:active') + num('n:high:done')
  local usual = math.max(wants, tonumber(ARGV[14]))
  if known > 0 then usual = (high + num('sum:high:done')) / known end
  local rest, runs, weights = limit - high - wait.high * usual, 1, kinds[kind]
  for k, weight in pairs(kinds) do
    rest = rest - num('sum:' .. k .. ':done')
    local n = wait[k] + num('n:' .. k .. ':active')
    if k == kind and stage == 'active' then n = n - 1 end
    if weight > 0 then runs = runs + n end
    weights = weights + weight * n
  end
  local each = math.min(least, rest / runs)
  fair = math.min(wants, each + (rest - runs * each) * kinds[kind] / weights)
  share = math.min(fair, free - wait.high * math.max(usual - least, 0))
  fair = math.min(fair, least)
  if each < least then -- too little for all: the first runs get the minimum, later ones what is returned
    share, fair = math.min(least, free + waits * least - wait.high * usual), least
  end
end
-- Amount held by other runs. They may have spent all of it.
local held = -mine
for k in pairs(kinds) do held = held + num('sum:' .. k .. ':active') end
if held < least and (kind == 'high' or wait.high == 0) then fair = share end -- other runs hold nothing to wait for
if what == 'ask' then
  local field, since = 'asked:' .. ARGV[2], 'held:' .. kind
  if stage ~= 'active' and stage ~= 'done' and share < fair - 1 then
    local clock = redis.call('TIME')
    local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
    redis.call('HSETNX', pool, since, now)
    redis.call('HSETNX', pool, field, num(since))
    if now - num(field) < tonumber(ARGV[13]) then return '0' end
  else
    redis.call('HDEL', pool, since)
  end
  redis.call('HDEL', pool, field)
  if stage ~= 'active' and stage ~= 'done' then move(kind, 'active', math.max(0, math.floor(share)), 0) end
  return '1'
end
-- A run can finish what it has begun, from its own amount or from the free amount.
share = math.floor(math.max(share, math.min(needs, math.max(mine, free)), spent, 0))
local active = 1
for k in pairs(kinds) do active = active + num('n:' .. k .. ':active') end
local plenty = (free - share - waits * math.max(wants - least, 0)) / active
if first then plenty = first - share end
local more = 0
if share >= wants and plenty > 0 then more = math.floor(math.min(tonumber(ARGV[12]), plenty)) end
share = share + more
move(kind, 'active', share, more)
return string.format('%.0f', share)
