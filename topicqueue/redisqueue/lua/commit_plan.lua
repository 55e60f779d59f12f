-- ARGV: generation, owner, plan (JSON), traces (JSON list of texts), blocks (JSON list of texts), events (JSON),
-- path of the run, maximum number of reviews
if text(work, 'plan:ended') == ARGV[2] then return answer(wanted()) end -- repeated call: its reply was lost
if not holds('plan', ARGV[1], ARGV[2]) or state() ~= 'planning' then return { 'fenced' } end
redis.call('HSET', work, 'plan:ended', ARGV[2])
redis.call('SET', base .. 'plan', ARGV[3])
for _, trace in ipairs(cjson.decode(ARGV[4])) do redis.call('RPUSH', base .. 'traces:plan', trace) end
addBlocks(cjson.decode(ARGV[5]))
redis.call('HSET', run, 'state', 'researching', 'path', ARGV[7], 'loops', ARGV[8])
release('plan')
redis.call('DEL', base .. 'journal:plan')
local list = cjson.decode(ARGV[6])
table.insert(list, step('start_iterative_research', ''))
emit(progress(list), ARGV[1])
return answer(settled(admit()))
