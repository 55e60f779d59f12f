package health

import (
	"slices"
	"strings"
	"testing"
)

func TestJudgeRedis(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		info    string
		results []string
		want    string
	}{
		"all is well":     {"# Server\r\nredis_version:7.0.15\r\n# Memory\r\nmaxmemory_policy:noeviction\r\n# Persistence\r\naof_enabled:1\r\n", nil, ""},
		"says nothing":    {"", []string{OK}, "does not tell its maxmemory-policy"},
		"evicts":          {"redis_version:6.2.0\nmaxmemory_policy:volatile-lru\naof_enabled:1", []string{Failed}, "`redis-cli -p 1 CONFIG SET maxmemory-policy noeviction`"},
		"forgets":         {"redis_version:8.0\nmaxmemory_policy:noeviction\naof_enabled:0", []string{Note}, "`redis-cli -p 1 CONFIG SET appendonly yes`"},
		"too old":         {"redis_version:6.0.16\nmaxmemory_policy:noeviction\naof_enabled:1", []string{Failed}, "h:1 is version 6.0.16: 6.2 or later is needed"},
		"very old":        {"redis_version:5.9\nmaxmemory_policy:noeviction\naof_enabled:1", []string{Failed}, "6.2 or later"},
		"unheard version": {"redis_version:next\nmaxmemory_policy:noeviction\naof_enabled:1", nil, ""},
		"all at once":     {"redis_version:6.0\nmaxmemory_policy:allkeys-lfu\naof_enabled:0", []string{Failed, Failed, Note}, ""},
		"room":            {"maxmemory_policy:noeviction\nused_memory:899\nmaxmemory:1000", nil, ""},
		"nearly full":     {"maxmemory_policy:noeviction\nused_memory:900\nmaxmemory:1000", []string{Note}, "when it is full, all runs stop"},
		"without a limit": {"maxmemory_policy:noeviction\nused_memory:5000\nmaxmemory:0", nil, ""},
	} {
		var results []string
		var text strings.Builder
		for _, c := range made(func(r report) { judgeRedis(r, tc.info, "h:1", "redis-cli -p 1") }) {
			results = append(results, c.Result)
			text.WriteString(c.Text + " " + c.Hint + "\n")
		}
		if !slices.Equal(results, tc.results) || !strings.Contains(text.String(), tc.want) {
			t.Errorf("%s: %v, %s; want %v with %q", name, results, &text, tc.results, tc.want)
		}
	}
	for info, want := range map[string]string{
		"":                                   "",
		"used_memory:x":                      "",
		"used_memory:2097152\r\nmaxmemory:0": "; memory: 2 MB, no limit",
		"used_memory:2097152\r\nmaxmemory:1073741824\r\nmaxmemory_policy:noeviction": "; memory: 2 MB, at most 1 GB, noeviction",
	} {
		if got := judgeRedis(report{"", new([]Check)}, info, "it", "redis-cli"); got != want {
			t.Errorf("%q: %q, want %q", info, got, want)
		}
	}
}
