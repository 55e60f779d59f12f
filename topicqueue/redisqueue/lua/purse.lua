-- ARGV: total that the run may spend by its share of a common budget ('': unchanged), what the budget has cut ('':
-- nothing). Returns the total that the run may spend, what it has spent, the bytes of its claims, and for each block its
-- stage (1 begun, 2 ended), its iterations, their cost, and whether the next iteration has begun.
if state() == '' then return { 'stale' } end
if ARGV[1] ~= '' then
  local limit, own = tonumber(ARGV[1]), num(run, 'ceiling')
  if own > 0 then limit = math.min(limit, own) end
  redis.call('HSET', run, 'limit', string.format('%.0f', math.max(limit, 1)))
end
if ARGV[2] ~= '' and not string.find(' ' .. text(run, 'cuts') .. ' ', ' ' .. ARGV[2] .. ' ', 1, true) then
  redis.call('HSET', run, 'cuts', text(run, 'cuts') .. ' ' .. ARGV[2])
end
local list = {}
for n = 1, num(run, 'blocks') do
  local id = 'block_' .. n
  local status, stage = text(blocks, id .. ':status'), '0'
  if status == 'RESEARCHING' then stage = '1' elseif status ~= 'PENDING' then stage = '2' end
  for _, value in ipairs({ stage, text(blocks, id .. ':iterations'), text(work, id .. ':spent'),
    tostring(redis.call('EXISTS', base .. 'journal:' .. id)) }) do table.insert(list, value) end
end
return { 'ok', text(run, 'limit'), text(run, 'spent'), text(run, 'evidence'), list }
