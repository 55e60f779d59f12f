package main

import (
	"strings"
	"testing"
)

func TestJudgeRedis(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		info   string
		levels []redisLevel
		want   string
	}{
		"all is well":     {"# Server\r\nredis_version:7.0.15\r\n# Memory\r\nmaxmemory_policy:noeviction\r\n# Persistence\r\naof_enabled:1\r\n", nil, ""},
		"says nothing":    {"", []redisLevel{redisUnknown}, "does not tell its maxmemory-policy"},
		"evicts":          {"redis_version:6.2.0\nmaxmemory_policy:volatile-lru\naof_enabled:1", []redisLevel{redisEvicting}, "`redis-cli -p 1 CONFIG SET maxmemory-policy noeviction`"},
		"forgets":         {"redis_version:8.0\nmaxmemory_policy:noeviction\naof_enabled:0", []redisLevel{redisForgetful}, "`redis-cli -p 1 CONFIG SET appendonly yes`"},
		"too old":         {"redis_version:6.0.16\nmaxmemory_policy:noeviction\naof_enabled:1", []redisLevel{redisTooOld}, "h:1 is version 6.0.16: 6.2 or later is needed"},
		"very old":        {"redis_version:5.9\nmaxmemory_policy:noeviction\naof_enabled:1", []redisLevel{redisTooOld}, "6.2 or later"},
		"unheard version": {"redis_version:next\nmaxmemory_policy:noeviction\naof_enabled:1", nil, ""},
		"all at once":     {"redis_version:6.0\nmaxmemory_policy:allkeys-lfu\naof_enabled:0", []redisLevel{redisTooOld, redisEvicting, redisForgetful}, ""},
	} {
		found := judgeRedis(tc.info, "h:1", "redis-cli -p 1")
		var text strings.Builder
		ok := len(found) == len(tc.levels)
		for i, f := range found {
			text.WriteString(f.Text + " " + f.Hint + "\n")
			ok = ok && f.Level == tc.levels[i]
		}
		if !ok || !strings.Contains(text.String(), tc.want) {
			t.Errorf("%s: %+v, want %v with %q", name, found, tc.levels, tc.want)
		}
	}
}
