-- ARGV: generation, owner, plan (JSON), traces (JSON list of texts), blocks (JSON list of texts)
if not holds('plan', ARGV[1], ARGV[2]) then return { 'fenced' } end
if redis.call('HGET', run, 'state') ~= 'planning' then return { 'ok', lane(), wanted() } end
redis.call('SET', base .. 'plan', ARGV[3])
for _, trace in ipairs(cjson.decode(ARGV[4])) do redis.call('RPUSH', base .. 'traces:plan', trace) end
addBlocks(cjson.decode(ARGV[5]))
redis.call('HSET', run, 'state', 'researching')
redis.call('HSET', work, 'plan:lease', 0)
emit(progress({ step('start_iterative_research', '') }, ARGV[1]), ARGV[1])
return { 'ok', lane(), admit() }
