package main_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// layers lists, for each part of the house, which other parts it may import. What is not listed may not be imported.
// The longest matching prefix of a package path counts.
var layers = map[string][]string{
	"cmd": {"config", "jobs", "pipeline", "prompts", "storage", "topicqueue", "cmd"},
	"cmd/nightdesk/bases": {"config", "pipeline", "storage", "topicqueue", "cmd/nightdesk/intake", "cmd/nightdesk/view",
		"cmd/nightdesk/wiring"},
	"cmd/nightdesk/desk": {"config", "jobs", "jobs/bundle", "jobs/nights", "pipeline", "storage", "topicqueue",
		"topicqueue/redisqueue", "cmd/nightdesk/bases", "cmd/nightdesk/desk/finding", "cmd/nightdesk/desk/health",
		"cmd/nightdesk/desk/remake", "cmd/nightdesk/desk/reports",
		"cmd/nightdesk/desk/schedules", "cmd/nightdesk/estimate", "cmd/nightdesk/intake", "cmd/nightdesk/view",
		"cmd/nightdesk/wiring"},
	"cmd/nightdesk/desk/finding": {"config", "jobs/search", "storage", "cmd/nightdesk/view", "cmd/nightdesk/wiring"},
	"cmd/nightdesk/desk/health": {"config", "jobs", "pipeline", "storage", "topicqueue", "topicqueue/redisqueue",
		"cmd/nightdesk/bases", "cmd/nightdesk/view", "cmd/nightdesk/wiring"},
	"cmd/nightdesk/desk/remake": {"config", "jobs/bundle", "pipeline", "storage", "topicqueue", "cmd/nightdesk/intake",
		"cmd/nightdesk/view", "cmd/nightdesk/wiring"},
	"cmd/nightdesk/desk/reports": {"jobs", "jobs/bundle", "pipeline", "storage", "topicqueue/redisqueue",
		"cmd/nightdesk/view"},
	"cmd/nightdesk/desk/schedules": {"config", "jobs", "jobs/nights", "pipeline", "topicqueue", "topicqueue/redisqueue",
		"cmd/nightdesk/bases", "cmd/nightdesk/intake", "cmd/nightdesk/view", "cmd/nightdesk/wiring"},
	"cmd/nightdesk/dialogue": {"config", "jobs", "pipeline", "topicqueue", "topicqueue/redisqueue", "cmd/nightdesk/view",
		"cmd/nightdesk/desk", "cmd/nightdesk/watch"},
	"cmd/nightdesk/estimate": {"config", "jobs", "pipeline", "topicqueue", "topicqueue/redisqueue",
		"cmd/nightdesk/intake", "cmd/nightdesk/view", "cmd/nightdesk/wiring"},
	"cmd/nightdesk/intake": {"config", "jobs", "pipeline", "storage", "topicqueue", "topicqueue/redisqueue",
		"cmd/nightdesk/view", "cmd/nightdesk/wiring"},
	"cmd/nightdesk/foreign": {"config", "pipeline", "prompts", "topicqueue", "cmd/nightdesk/view",
		"cmd/nightdesk/wiring"},
	"cmd/nightdesk/localredis": {"topicqueue"},
	"cmd/nightdesk/view":       {"topicqueue", "topicqueue/redisqueue"},
	"cmd/nightdesk/web": {"jobs", "jobs/bundle", "jobs/search", "pipeline", "storage", "topicqueue",
		"topicqueue/redisqueue", "cmd/nightdesk/bases", "cmd/nightdesk/desk", "cmd/nightdesk/desk/health", "cmd/nightdesk/desk/reports",
		"cmd/nightdesk/desk/schedules", "cmd/nightdesk/intake", "cmd/nightdesk/view", "cmd"},
	"cmd/nightdesk/watch": {"config", "jobs", "jobs/bundle", "storage", "topicqueue", "topicqueue/redisqueue",
		"cmd/nightdesk/desk", "cmd/nightdesk/desk/health", "cmd/nightdesk/view", "cmd/nightdesk/wiring"},
	"cmd/nightdesk/wiring": {"config", "jobs", "jobs/bundle", "jobs/search", "pipeline", "prompts", "storage",
		"topicqueue", "topicqueue/redisqueue",
		"cmd/nightdesk/localredis", "cmd/nightdesk/view"},

	"config": {"topicqueue"},
	"jobs": {"pipeline", "storage", "topicqueue", "topicqueue/redisqueue", "jobs/bundle", "jobs/stage",
		"jobs/steady"},
	"jobs/stage":           {"pipeline", "storage", "topicqueue", "topicqueue/redisqueue", "jobs", "jobs/steady"},
	"jobs/steady":          {"pipeline/tools", "storage", "topicqueue", "topicqueue/redisqueue"},
	"jobs/bundle":          {"pipeline", "prompts", "storage", "topicqueue", "topicqueue/redisqueue"},
	"jobs/search":          {"pipeline", "storage", "topicqueue", "jobs/bundle"},
	"jobs/nights":          {"jobs", "storage", "topicqueue", "topicqueue/redisqueue"},
	"pipeline/answering":   {"pipeline/report", "pipeline/researching", "pipeline/text", "pipeline/llm", "pipeline/tools", "pipeline/citation", "pipeline/knowledge", "prompts", "topicqueue"},
	"pipeline/planning":    {"pipeline/text", "pipeline/evidence", "pipeline/llm", "pipeline/tools", "pipeline/knowledge", "prompts", "topicqueue"},
	"pipeline/researching": {"pipeline/text", "pipeline/llm", "pipeline/tools", "pipeline/quantity", "pipeline/recurring", "prompts", "topicqueue"},
	"pipeline/judging":     {"pipeline/text", "pipeline/llm", "pipeline/citation", "prompts", "topicqueue"},
	"pipeline/reporting":   {"pipeline/reporting/checking", "pipeline/report", "pipeline/text", "pipeline/markdown", "pipeline/llm", "pipeline/citation", "pipeline/judging", "pipeline/evidence", "pipeline/recurring", "pipeline/sources", "pipeline/quantity", "prompts", "topicqueue"},
	"pipeline/reporting/checking": {"pipeline/reporting", "pipeline/report", "pipeline/text", "pipeline/llm", "pipeline/citation",
		"pipeline/judging", "pipeline/evidence", "prompts", "topicqueue"},
	"pipeline/narration": {"pipeline/citation", "pipeline/report", "pipeline/text", "pipeline/markdown",
		"pipeline/llm", "pipeline/quantity", "prompts", "topicqueue"},
	"pipeline/recurring":        {"pipeline/text", "pipeline/quantity", "pipeline/tools", "topicqueue"},
	"pipeline/llm":              {"pipeline/text", "prompts", "topicqueue"},
	"pipeline/tools":            {"pipeline/citation/address", "pipeline/text", "pipeline/knowledge", "pipeline/sources", "topicqueue"},
	"pipeline/sources":          {"pipeline/citation/address", "pipeline/text", "topicqueue"},
	"pipeline/quantity":         {"pipeline/text"},
	"pipeline/digest":           {"pipeline/report", "pipeline/markdown", "pipeline/evidence", "pipeline/citation", "pipeline/quantity", "pipeline/recurring", "topicqueue"},
	"pipeline/evidence":         {"pipeline/text", "pipeline/quantity", "pipeline/sources", "topicqueue"},
	"pipeline/knowledge":        {"pipeline/text", "pipeline/markdown", "pipeline/quantity", "topicqueue"},
	"pipeline/citation/address": {},
	"pipeline/citation":         {"pipeline/citation/address", "pipeline/report", "pipeline/text", "pipeline/markdown", "pipeline/quantity", "topicqueue"},
	"pipeline/text":             {"topicqueue"},
	"pipeline/markdown":         {"pipeline/text"},
	"pipeline/report":           {"pipeline/text", "pipeline/markdown"},
	"pipeline/lineartest":       {},
	"prompts":                   {"topicqueue"},
	"storage":                   {},
	"storage/storagetest":       {"storage", "topicqueue"},
	"topicqueue":                {},
	"topicqueue/redisqueue":     {"topicqueue"},
}

// onlyIn names libraries that one part of the house alone may know.
var onlyIn = map[string][]string{
	"github.com/hibiken/asynq":     {"jobs", "cmd"},
	"github.com/redis/go-redis/v9": {"topicqueue/redisqueue", "jobs", "config", "cmd"}, // config: what an address means
	"github.com/tmc/langchaingo":   {"pipeline/llm"},
	"go.opentelemetry.io":          {"jobs/tracing"},

	"github.com/modelcontextprotocol/go-sdk": {"pipeline/tools/mcp", "cmd"},
	"modernc.org/sqlite":                     {"pipeline/knowledge", "jobs/search"},
	"github.com/spf13/cobra":                 {"cmd"},
	"github.com/goccy/go-yaml":               {"config", "prompts"},
}

func TestImportsPointDownwards(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "nightdesk/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		path := strings.TrimPrefix(p.ImportPath, "nightdesk/")
		part := longest(path, keys(layers))
		if part == "" {
			t.Errorf("package %s has no place in the house; see layers", path)
			continue
		}
		for _, imported := range p.Imports {
			if own, ok := strings.CutPrefix(imported, "nightdesk/"); ok {
				if !below(own, append([]string{part}, layers[part]...), part) {
					t.Errorf("%s may not import %s", path, own)
				}
				continue
			}
			if lib := longest(imported, keys(onlyIn)); lib != "" && longest(path, onlyIn[lib]) == "" {
				t.Errorf("%s may not import %s: only %s may", path, imported, strings.Join(onlyIn[lib], ", "))
			}
		}
	}
	if seen < len(layers) {
		t.Errorf("%d packages were listed, fewer than the house has parts", seen)
	}
}

// below reports whether an import lies in one of the allowed parts; "topicqueue" does not allow
// "topicqueue/redisqueue".
func below(path string, allowed []string, part string) bool {
	own := longest(path, keys(layers))
	for _, a := range allowed {
		if own == a || (strings.HasPrefix(own, a+"/") && (a == "pipeline" || part == "cmd")) {
			return true
		}
	}
	return false
}

func keys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

// longest returns the longest of the prefixes, at a slash, of path; empty when none is.
func longest(path string, prefixes []string) string {
	best := ""
	for _, p := range prefixes {
		if (path == p || strings.HasPrefix(path, p+"/")) && len(p) > len(best) {
			best = p
		}
	}
	return best
}
