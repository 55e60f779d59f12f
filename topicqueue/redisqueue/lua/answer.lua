-- ARGV: reply (JSON), number of the question. Stores a person's answer to the question that the plan waits for.
local n = ARGV[2]
if text(run, 'reply:' .. n) == ARGV[1] then return answer(wanted()) end -- repeated call or duplicate answer
if state() ~= 'awaiting_input' or num(run, 'asks') ~= tonumber(n) then return { 'stale' } end
redis.call('HSET', run, 'reply:' .. n, ARGV[1], 'replied:' .. n, now, 'state', 'planning')
return answer(wanted())
