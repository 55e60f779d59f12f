-- ARGV: reason, report (1: what was found is written up)
if state() == '' then return { 'stale' } end
if ended() then return answer(wanted()) end
if ARGV[2] == '1' and redis.call('EXISTS', base .. 'plan') == 1 then
  redis.call('HDEL', run, 'paused')
  seal(ARGV[1])
  return answer(wanted())
end
for _, id in ipairs(redis.call('ZRANGE', active, 0, -1)) do
  fence(id)
  redis.call('DEL', base .. 'journal:' .. id)
end
conclude('cancelled', ARGV[1], 0)
return answer(wanted())
