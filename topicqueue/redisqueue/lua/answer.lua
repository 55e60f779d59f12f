-- ARGV: answer (JSON). A person has answered what the plan waits for: planning goes on with it.
if state() == 'planning' and text(run, 'answer') == ARGV[1] then return answer(wanted()) end -- the reply of the first call was lost
if state() ~= 'awaiting_input' then return { 'stale' } end
redis.call('HSET', run, 'answer', ARGV[1], 'state', 'planning')
return answer(wanted())
