-- KEYS: runs of a batch that are not yet published (set), its state (hash)
-- ARGV: open runs to return at the most
-- Returns whether it is sealed, how many runs are open, the generation of the digest, that of the last one made, and some
-- open runs.
local generation, digested = redis.call('HGET', KEYS[2], 'generation') or '0', redis.call('HGET', KEYS[2], 'digested') or '0'
local sealed, open = redis.call('HEXISTS', KEYS[2], 'sealed'), redis.call('SCARD', KEYS[1])
if sealed == 1 and open == 0 and tonumber(generation) > tonumber(digested) and redis.call('HGET', KEYS[2], 'asked') ~= generation then
  local clock = redis.call('TIME') -- of the first look at a digest that is wanted
  redis.call('HSET', KEYS[2], 'asked', generation, 'since', clock[1] * 1000 + math.floor(clock[2] / 1000))
end
return { sealed, open, tonumber(generation), tonumber(digested), redis.call('SRANDMEMBER', KEYS[1], ARGV[1]) }
