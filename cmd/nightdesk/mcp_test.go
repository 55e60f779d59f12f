package main_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestMCP: an assistant starts research, follows it, reads the report, finds it and asks about it; what is refused says
// what to do.
func TestMCP(t *testing.T) {
	t.Parallel()
	f := newDeskAt(t, "redis-socket://"+redistest.Socket(t))
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: f.command("mcp")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	call := func(tool string, arguments map[string]any, refused bool) string {
		t.Helper()
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		var b strings.Builder
		for _, c := range r.Content {
			if text, ok := c.(*mcp.TextContent); ok {
				b.WriteString(text.Text)
			}
		}
		if r.IsError != refused {
			t.Errorf("%s: refused %v, want %v\n%s", tool, r.IsError, refused, b.String())
		}
		return b.String()
	}
	topics := []map[string]string{{"topic": "How does the harbour inspect ships?"}}
	var done struct {
		Runs []struct {
			RunID string `json:"run_id"`
		}
	}
	started := call("start_research", map[string]any{"topics": topics, "kb": "docs", "preset": "quick"}, false)
	if err := json.Unmarshal([]byte(started), &done); err != nil || len(done.Runs) != 1 {
		t.Fatalf("%v: %s", err, started)
	}
	run := map[string]any{"run_id": done.Runs[0].RunID}
	if text := call("list_runs", map[string]any{"state": "queued"}, false); !strings.Contains(text, done.Runs[0].RunID) {
		t.Errorf("list_runs: %s", text)
	}
	if text := call("read_report", run, true); !strings.Contains(text, "`nightdesk status RUN`") {
		t.Errorf("read_report of a run that waits: %s", text)
	}
	if text := call("start_research", map[string]any{"topics": topics, "kb": "none"}, true); !strings.Contains(text,
		"there is no knowledge base") {
		t.Errorf("without a knowledge base: %s", text)
	}
	w := f.worker(4)
	until(t, "the report", func() bool { return strings.Contains(call("read_run", run, false), `"report_key":"reports/`) })
	f.stop(w)
	for tool, arguments := range map[string]map[string]any{"read_report": run, "search_reports": {"q": "harbour"},
		"ask_report": {"run_id": done.Runs[0].RunID, "question": "How is the harbour inspected?"}} {
		if text := call(tool, arguments, false); !strings.Contains(strings.ToLower(text), "harbour") {
			t.Errorf("%s: %s", tool, text)
		}
	}
	call("ask_report", map[string]any{"run_id": "research_none", "question": "How?"}, true)
	if _, err := session.CallTool(context.WithoutCancel(t.Context()), &mcp.CallToolParams{Name: "nonsense"}); err == nil {
		t.Error("a tool that is not there was called")
	}
}
