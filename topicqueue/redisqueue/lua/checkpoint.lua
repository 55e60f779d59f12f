-- ARGV: unit, generation, owner, iteration, number of blocks that the proposals were compared with, traces (JSON list
-- of texts), queries (JSON list), new blocks (JSON list of texts), admissions (JSON), lease (ms), memory (JSON), events
-- (JSON), digest (JSON; empty: none), calls (JSON list: tool, asked, shared, ...), bytes of its evidence, sources
-- returned by its calls (hash; empty: none)
local unit, iteration = ARGV[1], tonumber(ARGV[4])
if not holds(unit, ARGV[2], ARGV[3]) or state() ~= 'researching' then return { 'fenced' } end
if num(blocks, unit .. ':iterations') >= iteration then -- repeated call: its reply was lost
  return answer(wanted(), text(work, unit .. ':view'), text(work, unit .. ':admissions'))
end
if num(run, 'blocks') ~= tonumber(ARGV[5]) then return { 'changed' } end
for _, trace in ipairs(cjson.decode(ARGV[6])) do redis.call('RPUSH', base .. 'traces:' .. unit, trace) end
for _, query in ipairs(cjson.decode(ARGV[7])) do redis.call('RPUSH', queries, unit .. '\t' .. query) end
if ARGV[13] ~= '' then redis.call('RPUSH', ledger, unit .. '\t' .. ARGV[13]) end
if ARGV[16] ~= '' then redis.call('RPUSH', returned, unit .. '\t' .. ARGV[16]) end
local calls = cjson.decode(ARGV[14])
for i = 1, #calls, 3 do
  redis.call('HINCRBY', run, 'asked:' .. calls[i], calls[i + 1])
  redis.call('HINCRBY', run, 'shared:' .. calls[i], calls[i + 2])
end
if ARGV[15] ~= '0' then redis.call('HINCRBY', run, 'evidence', ARGV[15]) end
local new = cjson.decode(ARGV[8])
addBlocks(new)
redis.call('HSET', blocks, unit .. ':iterations', iteration, unit .. ':updated', now)
redis.call('HSET', work, unit .. ':admissions', ARGV[9], unit .. ':lease', now + tonumber(ARGV[10]), unit .. ':memory', ARGV[11])
redis.call('DEL', base .. 'journal:' .. unit) -- the checkpoint replaces the journal
local list = cjson.decode(ARGV[12])
if #new > 0 then progress(list) end
emit(list, ARGV[2])
return answer(admit(), freeze(unit), ARGV[9])
