-- KEYS: state of a batch (hash)
-- ARGV: generation of the digest that is stored. What ended meanwhile has raised the generation: another one is wanted.
if tonumber(redis.call('HGET', KEYS[1], 'digested') or '0') < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[1], 'digested', ARGV[1])
end
return 1
