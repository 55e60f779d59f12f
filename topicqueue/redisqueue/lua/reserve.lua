-- ARGV: unit, generation, owner, place, cost of the question, of the longest answer, of a usual answer, of the shortest
-- useful answer, and the amount to leave for other work.
-- Reserves the cost of a model call until the call is recorded, and returns the amount for its answer. Near the end of the
-- budget, each call may use a quarter of the rest. Returns -1 if the budget is insufficient, and -2 if it may suffice when
-- calls in flight have ended.
if not holds(ARGV[1], ARGV[2], ARGV[3]) or ended() then return { 'fenced' } end
local question, longest, usual, least = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local limit = num(run, 'limit')
if limit == 0 then return { 'ok', ARGV[6] } end
local field = ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[4]
local room, flying = limit - num(run, 'spent') - tonumber(ARGV[9]) - question, false
local calls = redis.call('HGETALL', base .. 'calls')
for i = 1, #calls, 2 do
  if calls[i] ~= field then
    room = room - tonumber(calls[i + 1])
    flying = true
  end
end
local answer = math.min(longest, math.max(usual, math.floor(room / 4)))
if answer > room then
  if flying then return { 'ok', '-2' } end
  if room < math.min(least, longest) then return { 'ok', '-1' } end
  answer = room
end
redis.call('HSET', base .. 'calls', field, string.format('%.0f', question + answer))
return { 'ok', string.format('%.0f', answer) }
