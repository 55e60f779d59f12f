-- ARGV: unit, generation, owner, place, amount of the question, of the longest answer, of an answer that most are
-- shorter than, of one that is hardly worth a call, and what is to stay for others.
-- Sets aside what a model call may cost, until it is recorded, and returns the amount that its answer may have. Near
-- the end of the budget long answers are not provided for: each call may have a quarter of what is left. Refused (-1)
-- when the budget does not suffice; -2: it may when calls that are in flight have ended.
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
