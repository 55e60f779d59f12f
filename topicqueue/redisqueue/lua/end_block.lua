-- ARGV: unit, generation, owner, status, reason, fallbacks (JSON), sources returned by its last calls (hash; empty: none)
local unit = ARGV[1]
if text(work, unit .. ':ended') == ARGV[3] then return answer(wanted()) end -- repeated call: its reply was lost
if not holds(unit, ARGV[2], ARGV[3]) then return { 'fenced' } end
redis.call('HSET', work, unit .. ':ended', ARGV[3])
redis.call('HSET', blocks, unit .. ':fallbacks', ARGV[6])
if ARGV[7] ~= '' then redis.call('RPUSH', returned, unit .. '\t' .. ARGV[7]) end
return answer(endBlock(unit, ARGV[4], ARGV[5], ARGV[2]))
