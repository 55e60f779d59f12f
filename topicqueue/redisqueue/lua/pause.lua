-- ARGV: pause (1) or resume (0)
if state() == '' then return { 'stale' } end
if not ended() then
  if ARGV[1] == '1' then redis.call('HSETNX', run, 'paused', now)
  elseif redis.call('HDEL', run, 'paused') == 1 and state() == 'researching' then admit() end
end
return answer(wanted())
