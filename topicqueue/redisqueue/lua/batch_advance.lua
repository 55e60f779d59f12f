-- KEYS: state of a batch (hash)
-- ARGV: generation of a digest whose task will never run, minimum age (ms) of the request for it. Returns the generation
-- wanted now.
local generation = tonumber(redis.call('HGET', KEYS[1], 'generation') or '0')
if generation ~= tonumber(ARGV[1]) then return generation end
local clock = redis.call('TIME')
local since = tonumber(redis.call('HGET', KEYS[1], 'since') or '0')
if clock[1] * 1000 + math.floor(clock[2] / 1000) - since < tonumber(ARGV[2]) then return generation end
return redis.call('HINCRBY', KEYS[1], 'generation', 1)
