-- ARGV: reply (JSON), number of the question. A person has replied to what the plan waits with: planning goes on.
local n = ARGV[2]
if text(run, 'reply:' .. n) == ARGV[1] then return answer(wanted()) end -- the reply of the first call was lost, or it came twice
if state() ~= 'awaiting_input' or num(run, 'asks') ~= tonumber(n) then return { 'stale' } end
redis.call('HSET', run, 'reply:' .. n, ARGV[1], 'replied:' .. n, now, 'state', 'planning')
return answer(wanted())
