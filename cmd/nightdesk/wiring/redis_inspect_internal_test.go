package wiring

import (
	"fmt"
	"slices"
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
		"evicts":          {"redis_version:6.2.0\nmaxmemory_policy:volatile-lru\naof_enabled:1", []redisLevel{RedisEvicting}, "`redis-cli -p 1 CONFIG SET maxmemory-policy noeviction`"},
		"forgets":         {"redis_version:8.0\nmaxmemory_policy:noeviction\naof_enabled:0", []redisLevel{redisForgetful}, "`redis-cli -p 1 CONFIG SET appendonly yes`"},
		"too old":         {"redis_version:6.0.16\nmaxmemory_policy:noeviction\naof_enabled:1", []redisLevel{redisTooOld}, "h:1 is version 6.0.16: 6.2 or later is needed"},
		"very old":        {"redis_version:5.9\nmaxmemory_policy:noeviction\naof_enabled:1", []redisLevel{redisTooOld}, "6.2 or later"},
		"unheard version": {"redis_version:next\nmaxmemory_policy:noeviction\naof_enabled:1", nil, ""},
		"all at once":     {"redis_version:6.0\nmaxmemory_policy:allkeys-lfu\naof_enabled:0", []redisLevel{redisTooOld, RedisEvicting, redisForgetful}, ""},
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

// TestNearlyFullRedis: a Redis is called nearly full from nine tenths of its maxmemory on.
func TestNearlyFullRedis(t *testing.T) {
	t.Parallel()
	for used, want := range map[int]bool{0: false, 899: false, 900: true, 1000: true} {
		found := judgeRedis(fmt.Sprintf("redis_version:7.0.0\r\nmaxmemory_policy:noeviction\r\nused_memory:%d\r\nmaxmemory:1000\r\n", used), "it", "redis-cli")
		if got := slices.ContainsFunc(found, func(f redisFinding) bool { return f.Level == RedisNearlyFull }); got != want {
			t.Errorf("%d of 1000: %+v", used, found)
		}
	}
	if found := judgeRedis("redis_version:7.0.0\r\nmaxmemory_policy:noeviction\r\nused_memory:5000\r\nmaxmemory:0\r\n", "it", "redis-cli"); len(found) != 1 {
		t.Errorf("without a limit: %+v", found)
	}
}

// TestMemoryOf: what a Redis tells of its memory is shown, and no more.
func TestMemoryOf(t *testing.T) {
	t.Parallel()
	for info, want := range map[string]string{
		"":                                   "",
		"used_memory:x":                      "",
		"used_memory:2097152\r\nmaxmemory:0": "2 MB, no limit",
		"used_memory:2097152\r\nmaxmemory:1073741824\r\nmaxmemory_policy:noeviction": "2 MB, at most 1 GB, noeviction",
	} {
		got := ""
		for _, f := range memoryOf(infoOf(info)) {
			got += f.Text
		}
		if got != want {
			t.Errorf("%q: %q, want %q", info, got, want)
		}
	}
}
