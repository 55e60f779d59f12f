-- KEYS[1] is the state of one model server's governor; its other keys share prefix and hash tag.
-- ARGV[1] is the input of one process, as JSON:
--  process: the process; channel: prefix of the channels on which processes receive their grants
--  lease, wait: time (ms) after which a permit and a waiting call expire unless mentioned
--  limits: in_flight, requests, tokens; 0 = none
--  ends:   ended tries: id, call, outcome, tokens (used minus reserved), epoch, answered, inside, why
--  keep:   ids of permits in use
--  asks:   calls that wait for a permit: id, run, class (0 before 1), tokens, patient
-- Returns the permits granted to this process as id, epoch, answered, inside, ...; the ids of impatient calls that are
-- refused because the server is down; for each end whether the server is down and whether the try was queued; and the
-- time (ms) until the next request.
local base = string.sub(KEYS[1], 1, -6)
local state, flight, failing, minute = KEYS[1], base .. 'flight', base .. 'failing', base .. 'minute'
local waiter, lease, runs = base .. 'waiter', base .. 'lease', base .. 'runs'
local batch = cjson.decode(ARGV[1])
local limits = batch.limits

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local keep_state = 3600000 -- lifetime of an unused server's state
local step, longest = 3000, 30000 -- pause between raises of the limit: after a success, and the maximum after failures
local threshold = 3 -- consecutive failures that open the circuit
local away, full = 1, 2 -- reasons for an open circuit
local first_probe, last_probe = 1000, 15000 -- first and longest pause between probes

-- The state is read once and written once.
local names = { 'limit', 'epoch', 'changed', 'trial', 'pause', 'rounds', 'since', 'well', 'answered', 'granted', 'throttled',
  'failing', 'open', 'opened', 'probe_at', 'probe_pause', 'requests', 'tokens', 'seq' }
local s, raw = {}, redis.call('HMGET', state, 'probe', 'why', unpack(names))
local probe, why = raw[1] or '', raw[2] or ''
for i, name in ipairs(names) do s[name] = tonumber(raw[i + 2] or 0) or 0 end
if s.pause == 0 then s.pause, s.rounds = step, 1 end

-- score orders the runs of waiting calls: by class, then by calls granted so far, then by the oldest waiting call.
local function score(member, number)
  local served = tonumber(redis.call('GET', base .. 'served:' .. string.sub(member, 2)) or 0)
  return string.format('%.0f', tonumber(string.sub(member, 1, 1)) * 2 ^ 50 + math.min(served, 2 ^ 17 - 1) * 2 ^ 33
    + number % 2 ^ 33)
end

local function place(member)
  local head = redis.call('ZRANGE', base .. 'queue:' .. member, 0, 0, 'WITHSCORES')
  if head[1] then
    redis.call('ZADD', runs, score(member, tonumber(head[2])), member)
  else
    redis.call('ZREM', runs, member)
  end
end

-- read parses a waiting call, stored as tokens|process|class run.
local function read(id)
  local text = redis.call('HGET', waiter, id)
  if not text then return nil end
  local tokens, process, member = string.match(text, '^(%-?%d+)|([^|]*)|(.*)$')
  return { id = id, tokens = tonumber(tokens), process = process, member = member }
end

local function forget(w)
  redis.call('HDEL', waiter, w.id)
  redis.call('ZREM', lease, w.id)
  redis.call('ZREM', base .. 'queue:' .. w.member, w.id)
end

local function drop(id)
  local w = read(id)
  if w then
    forget(w)
    place(w.member)
  end
end

local function enqueue(a)
  local member = string.format('%d', a.class) .. a.run
  local queue = base .. 'queue:' .. member
  redis.call('HSET', waiter, a.id, string.format('%d', a.tokens) .. '|' .. batch.process .. '|' .. member)
  redis.call('ZADD', lease, now + batch.wait, a.id)
  s.seq = s.seq + 1
  redis.call('ZADD', queue, s.seq, a.id)
  for _, key in ipairs({ waiter, lease, queue, runs }) do redis.call('PEXPIRE', key, keep_state) end
  place(member)
end

-- Delete expired permits and waiting calls.
redis.call('ZREMRANGEBYSCORE', flight, '-inf', now)
for _, id in ipairs(redis.call('ZRANGEBYSCORE', lease, '-inf', now)) do drop(id) end

local limited = limits.requests > 0 or limits.tokens > 0
if limited then
  local head = redis.call('LINDEX', minute, 0)
  while head do
    local at, requests, tokens = string.match(head, '^(%d+) (%d+) (%-?%d+)$')
    if tonumber(at) + 60000 > now then break end
    redis.call('LPOP', minute)
    s.requests, s.tokens = s.requests - tonumber(requests), s.tokens - tonumber(tokens)
    head = redis.call('LINDEX', minute, 0)
  end
  if not head then s.requests, s.tokens = 0, 0 end
end

local function spend(requests, tokens)
  if not limited then return end
  redis.call('RPUSH', minute, string.format('%.0f %d %d', now, requests, tokens))
  redis.call('PEXPIRE', minute, 120000)
  s.requests, s.tokens = s.requests + requests, s.tokens + tokens
end

-- up records an answer of the server. While the server is down, only the probe's answer counts, because other answers
-- may belong to earlier calls.
local function up(id)
  if s.open == away and id ~= probe then return end
  if s.failing > 0 then redis.call('DEL', failing) end
  s.failing, s.open, probe = 0, 0, ''
end

-- down records a try that could not reach the server (how: away) or found no capacity (full). Tries with the same what
-- count once.
local function down(e, what, how)
  local id = e.id
  why = e.why or why
  if s.open > 0 then
    if id == probe then
      probe, s.probe_pause = '', math.min(last_probe, 2 * s.probe_pause)
      s.probe_at = now + s.probe_pause
    end
    return
  end
  redis.call('SADD', failing, what)
  redis.call('PEXPIRE', failing, keep_state)
  s.failing = redis.call('SCARD', failing)
  if s.failing >= threshold then
    s.open, s.opened, s.probe_pause, s.probe_at, probe = how, now, first_probe, now + first_probe, ''
  end
end

-- lower sets the limit after congestion and begins an epoch. Calls granted in earlier epochs say nothing about this limit.
local function lower(limit, rounds)
  if s.trial == 1 then s.pause = math.min(longest, 2 * s.pause) end
  s.limit, s.epoch, s.trial, s.rounds, s.changed = math.max(1, limit), s.epoch + 1, 0, rounds, now
  s.since, s.well = 0, 0
end

-- throttled handles a 429 response. Calls of an earlier epoch exceeded an earlier limit. Without a limit, all throttled
-- calls were too many, so the limit becomes the number of remaining calls. If no call has been answered since the limit
-- was lowered, concurrency is not the cause: a rate is used up, or an overload amounts to an outage.
local function throttled(e, inside)
  s.throttled = s.throttled + 1
  if s.limit > 0 and e.epoch == s.epoch and s.well == 0 then
    s.changed = now
    return down(e, e.id, full)
  end
  if s.limit == 0 then
    lower(inside, 1)
  elseif e.epoch == s.epoch then
    lower(s.limit - 1, 1)
  elseif e.epoch == 0 then
    s.limit, s.changed = math.max(1, math.min(s.limit, inside)), now
  else
    s.changed = now
  end
  up(e.id)
end

-- late handles a try that timed out. The server can process as many concurrent calls as it has answered in that time,
-- unless it has answered all of them.
local function late(e, inside)
  local meanwhile, most = s.answered - e.answered, math.max(e.inside, inside + 1)
  if meanwhile == 0 then down(e, e.call, full) end
  if most > 1 and meanwhile < most then
    if s.limit == 0 or meanwhile < s.limit then lower(meanwhile, 10) end
    return meanwhile > 0
  end
  return false
end

local queued = {}
for i, e in ipairs(batch.ends) do
  drop(e.id)
  if redis.call('ZREM', flight, e.id) == 1 then
    local inside = redis.call('ZCARD', flight)
    if e.tokens ~= 0 then spend(0, e.tokens) end
    if e.outcome == 'answered' then
      s.answered, s.since, s.well = s.answered + 1, s.since + 1, s.well + 1
      up(e.id)
    elseif e.outcome == 'up' then
      up(e.id)
    elseif e.outcome == 'throttled' then
      throttled(e, inside)
    elseif e.outcome == 'late' then
      queued[i] = late(e, inside)
    elseif e.outcome == 'unavailable' then
      down(e, e.id, away)
    elseif e.outcome == 'failed' then
      down(e, e.call, away)
    end
  end
end
-- A permit in use stays valid even if its lease has expired.
for _, id in ipairs(batch.keep) do redis.call('ZADD', flight, now + batch.lease, id) end

-- raised increases the limit by one if it has been reached for long enough without throttling and calls were answered
-- under it. Otherwise it returns false and the time (ms) until the next check.
local function raised()
  local pause = s.pause
  if s.trial == 1 then pause = step end
  if s.changed + pause > now then return false, s.changed + pause - now end
  if s.since < s.rounds * s.limit then return false, step end
  if s.trial == 1 then s.pause = step end
  s.limit, s.trial, s.changed, s.since = s.limit + 1, 1, now, 0
  return true
end

-- room reports whether a call may start now; otherwise it returns the time (ms) until the next check.
local function room(tokens)
  if s.open > 0 then
    if probe ~= '' and redis.call('ZSCORE', flight, probe) then return false, last_probe end
    return now >= s.probe_at, s.probe_at - now
  end
  local spent = limits.requests > 0 and s.requests >= limits.requests
    or limits.tokens > 0 and s.tokens > 0 and s.tokens + tokens > limits.tokens -- a larger call gets its own minute
  if spent then
    local head = redis.call('LINDEX', minute, 0)
    return false, tonumber(string.match(head, '^%d+')) + 60000 - now
  end
  local inside = redis.call('ZCARD', flight)
  if limits.in_flight > 0 and inside >= limits.in_flight then return false, last_probe end
  if s.limit > 0 and inside >= s.limit then return raised() end
  return true
end

-- admit grants a permit to a call.
local function admit(id, run, tokens)
  redis.call('ZADD', flight, now + batch.lease, id)
  redis.call('PEXPIRE', flight, keep_state)
  s.granted = s.granted + 1
  if s.open > 0 then probe = id end
  if run ~= '' then
    redis.call('INCR', base .. 'served:' .. run)
    redis.call('PEXPIRE', base .. 'served:' .. run, 2 * keep_state)
    for class = 0, 1 do place(class .. run) end
  end
  spend(1, tokens)
  return redis.call('ZCARD', flight)
end

local grants, refused, again = {}, {}, last_probe
local function grant(id, inside)
  for _, v in ipairs({ id, s.epoch, s.answered, inside }) do table.insert(grants, tostring(v)) end
end

for _, a in ipairs(batch.asks) do
  if redis.call('ZSCORE', flight, a.id) then -- the grant message was lost
    grant(a.id, redis.call('ZCARD', flight))
  elseif s.open > 0 and not a.patient then
    drop(a.id)
    table.insert(refused, a.id)
  elseif redis.call('HEXISTS', waiter, a.id) == 1 then
    redis.call('ZADD', lease, now + batch.wait, a.id)
  elseif redis.call('EXISTS', runs) == 0 and room(a.tokens) then
    grant(a.id, admit(a.id, a.run, a.tokens))
  else
    enqueue(a)
  end
end

while true do
  local member = redis.call('ZRANGE', runs, 0, 0)[1]
  if not member then break end
  local w = read(redis.call('ZRANGE', base .. 'queue:' .. member, 0, 0)[1] or '')
  if w then
    local ok, wait = room(w.tokens)
    if not ok then
      again = wait
      break
    end
    forget(w)
    local inside = admit(w.id, string.sub(member, 2), w.tokens)
    if w.process == batch.process then
      grant(w.id, inside)
    else
      redis.call('PUBLISH', batch.channel .. w.process, cjson.encode({ KEYS[1], w.id, s.epoch, s.answered, inside }))
    end
  else -- one of its keys has expired before the other
    redis.call('ZREMRANGEBYRANK', base .. 'queue:' .. member, 0, 0)
  end
  place(member)
end

local verdicts = {}
for i in ipairs(batch.ends) do
  table.insert(verdicts, s.open > 0 and 1 or 0)
  table.insert(verdicts, queued[i] and 1 or 0)
end
local fields = { 'probe', probe, 'why', why }
for _, name in ipairs(names) do
  table.insert(fields, name)
  table.insert(fields, string.format('%.0f', s[name]))
end
redis.call('HSET', state, unpack(fields))
redis.call('PEXPIRE', state, keep_state)
return { grants, refused, verdicts, math.floor(again) }
