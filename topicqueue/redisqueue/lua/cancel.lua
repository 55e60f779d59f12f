-- ARGV: reason, report (1: write a report on the findings so far)
if state() == '' then return { 'stale' } end
if ended() then return answer(wanted()) end
if state() == 'narrating' then -- the report exists
  breakOff(ARGV[1], 0)
  return answer(wanted())
end
if ARGV[2] == '1' and redis.call('EXISTS', base .. 'plan') == 1 then
  redis.call('HDEL', run, 'paused')
  seal(ARGV[1])
  return answer(wanted())
end
dropBlocks(ARGV[1])
conclude('cancelled', ARGV[1], 0)
return answer(wanted())
