-- KEYS: unpublished runs of a batch (set), its state (hash)
-- ARGV: maximum number of open runs to return
-- Returns whether the batch is sealed, the number of open runs, the generation of the wanted digest and of the last one,
-- and some open runs.
local generation, digested = redis.call('HGET', KEYS[2], 'generation') or '0', redis.call('HGET', KEYS[2], 'digested') or '0'
local sealed, open = redis.call('HEXISTS', KEYS[2], 'sealed'), redis.call('SCARD', KEYS[1])
if sealed == 1 and open == 0 and tonumber(generation) > tonumber(digested) and redis.call('HGET', KEYS[2], 'asked') ~= generation then
  local clock = redis.call('TIME') -- time of the first request for this digest
  redis.call('HSET', KEYS[2], 'asked', generation, 'since', clock[1] * 1000 + math.floor(clock[2] / 1000))
end
return { sealed, open, tonumber(generation), tonumber(digested), redis.call('SRANDMEMBER', KEYS[1], ARGV[1]) }
