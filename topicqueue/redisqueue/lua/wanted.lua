if redis.call('EXISTS', run) == 0 then return { 'stale' } end
return { 'ok', lane(), wanted() }
