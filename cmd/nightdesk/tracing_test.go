package main_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"nightdesk/cmd/nightdesk/benchtest"

	collected "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traced "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector receives OTLP over HTTP and keeps what it got.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	raw     bytes.Buffer
	spans   []*traced.Span
	sentBy  map[*traced.Span]string // service.instance.id
	refused int
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{sentBy: map[*traced.Span]string{}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		zipped, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = zipped
	}
	data, err := io.ReadAll(body)
	var req collected.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(data, &req)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || r.URL.Path != "/v1/traces" {
		c.refused++
		http.Error(w, fmt.Sprint(r.URL.Path, err), http.StatusBadRequest)
		return
	}
	c.raw.Write(data)
	for _, resource := range req.ResourceSpans {
		sender := attributes(resource.Resource.Attributes)["service.instance.id"]
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, s)
				c.sentBy[s] = fmt.Sprint(sender)
			}
		}
	}
}

// count returns how many spans with this beginning of their name have come.
func (c *collector) count(name string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if strings.HasPrefix(s.Name, name) {
			n++
		}
	}
	return n
}

// bytes returns all that was sent.
func (c *collector) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.raw.Bytes())
}

func attributes(list []*common.KeyValue) map[string]any {
	out := map[string]any{}
	for _, a := range list {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			out[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			out[a.Key] = v.IntValue
		case *common.AnyValue_BoolValue:
			out[a.Key] = v.BoolValue
		case *common.AnyValue_DoubleValue:
			out[a.Key] = v.DoubleValue
		}
	}
	return out
}

// tree is the trace of one run.
type tree struct {
	spans   []*traced.Span
	byID    map[string]*traced.Span
	senders map[string]bool
}

// trees returns the traces by their ids. A span that came twice is an error.
func (c *collector) trees(t *testing.T) map[string]*tree {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused > 0 {
		t.Errorf("%d requests are no traces", c.refused)
	}
	out := map[string]*tree{}
	for _, s := range c.spans {
		id := string(s.TraceId)
		if out[id] == nil {
			out[id] = &tree{byID: map[string]*traced.Span{}, senders: map[string]bool{}}
		}
		of := out[id]
		if other := of.byID[string(s.SpanId)]; other != nil {
			t.Errorf("two spans have the id %x: %s and %s", s.SpanId, other.Name, s.Name)
		}
		of.spans, of.byID[string(s.SpanId)] = append(of.spans, s), s
		of.senders[c.sentBy[s]] = true
	}
	return out
}

// check finds the root, which is alone, and orphans, of which there are none.
func (tr *tree) check(t *testing.T, run string) (root *traced.Span) {
	t.Helper()
	for _, s := range tr.spans {
		switch {
		case len(s.ParentSpanId) == 0 && root != nil:
			t.Errorf("run %s has two roots: %s and %s", run, root.Name, s.Name)
		case len(s.ParentSpanId) == 0:
			root = s
		case tr.byID[string(s.ParentSpanId)] == nil:
			t.Errorf("run %s: %s %v is an orphan", run, s.Name, attributes(s.Attributes))
		}
		if s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("run %s: %s ends before it starts", run, s.Name)
		}
	}
	if root == nil {
		t.Fatalf("run %s has no root among %d spans", run, len(tr.spans))
	}
	return root
}

const tracedSecret = "sk-traced-0123456789abcdef"

// TestTracesOverAKill kills one of two workers in the middle of its work: the trace of each run has one root, what
// both workers have sent, no orphans, and nothing that a person, a model or a page has written.
func TestTracesOverAKill(t *testing.T) {
	t.Parallel() // it waits for a lease most of the time
	const topics = 2
	c := newCollector(t)
	f := newFleet(t, 50*time.Millisecond, shortLease, "LLM_API_KEY="+tracedSecret,
		"OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_BSP_SCHEDULE_DELAY=50")
	f.enqueue(topics, "--preset", "medium")
	victim := f.worker(6)
	until(t, "the worker has sent calls of iterations", func() bool {
		return f.model.blocksSeen() >= 3 && c.count("chat") >= 12 && c.count("execute_tool") >= 6
	})
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	heir, other := f.worker(6), f.worker(6)
	f.checkReports(topics, f.wait(topics))
	f.stop(heir)
	f.stop(other)

	trees, runs := c.trees(t), f.runs()
	if len(trees) != topics || len(runs) != topics {
		t.Fatalf("%d traces of %d runs", len(trees), len(runs))
	}
	lapses, names := int64(0), map[string]int{}
	for _, run := range runs {
		sum := sha256.Sum256([]byte(run))
		tr := trees[string(sum[:16])]
		if tr == nil {
			t.Fatalf("no trace has the id that follows from %s", run)
		}
		root := tr.check(t, run)
		about := attributes(root.Attributes)
		if root.Name != "run" || about["nightdesk.run.id"] != run || about["nightdesk.state"] != "completed" {
			t.Errorf("the root is %s %v", root.Name, about)
		}
		if len(tr.senders) < 2 {
			t.Errorf("run %s: all %d spans come from %v", run, len(tr.spans), tr.senders)
		}
		tokens := int64(0)
		for _, s := range tr.spans {
			a := attributes(s.Attributes)
			name, _, _ := strings.Cut(s.Name, " ")
			names[name]++
			if name == "chat" {
				in, _ := a["gen_ai.usage.input_tokens"].(int64)
				tokens += in
				if a["gen_ai.request.model"] != "stub" || a["gen_ai.provider.name"] != "openai" || in == 0 {
					t.Errorf("%s: %v", s.Name, a)
				}
			}
			if n, _ := a["nightdesk.lapses"].(int64); n > 0 {
				lapses++
			}
		}
		// what the victim had not sent when it was killed is missing below, never above
		if all, _ := about["gen_ai.usage.input_tokens"].(int64); all < tokens || all == 0 {
			t.Errorf("run %s: %d tokens at its root, %d in its calls", run, all, tokens)
		}
	}
	if lapses == 0 {
		t.Error("no attempt says that the one before it was lost")
	}
	for _, name := range []string{"run", "block", "attempt", "chat", "execute_tool"} {
		if names[name] == 0 {
			t.Errorf("no span %s among %v", name, names)
		}
	}
	for _, private := range []string{tracedSecret, "harbour", "inspects", "quays"} {
		if bytes.Contains(bytes.ToLower(c.bytes()), []byte(private)) {
			t.Errorf("%q was sent", private)
		}
	}
}

// runs returns the ids of the batch "fleet".
func (f *fleet) runs() (ids []string) {
	f.t.Helper()
	dec := json.NewDecoder(strings.NewReader(f.output("list", "--batch", "fleet", "--json")))
	for dec.More() {
		var run struct {
			RunID string `json:"run_id"`
		}
		if err := dec.Decode(&run); err != nil {
			f.t.Fatal(err)
		}
		ids = append(ids, run.RunID)
	}
	return ids
}

// TestTracesOfARetry tries a run again: each time has a trace of its own, with a root and without orphans.
func TestTracesOfARetry(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	f := newFleet(t, 0, shortLease, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL)
	f.enqueue(1, "--preset", "quick")
	w := f.worker(3)
	f.wait(1)
	run := f.runs()[0]
	for n, what := range []string{"report", "all"} {
		f.output("retry", run, "--"+what)
		f.wait(1)
		until(t, "the root of another try", func() bool { return c.count("run") == n+2 })
	}
	f.stop(w)
	trees := c.trees(t)
	if len(trees) != 3 {
		t.Errorf("%d traces, want 3", len(trees))
	}
	for _, tr := range trees {
		tr.check(t, run)
	}
}

// TestTracesOfCancelledRun cancels a run before anybody works it: its trace is its root.
func TestTracesOfCancelledRun(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	f := newFleet(t, 0, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL)
	f.enqueue(1, "--preset", "quick")
	run := f.runs()[0]
	f.output("cancel", run)
	w := f.worker(1)
	until(t, "its root", func() bool { return c.count("run") > 0 })
	f.stop(w)
	for _, tr := range c.trees(t) {
		if root := tr.check(t, run); attributes(root.Attributes)["nightdesk.state"] != "cancelled" {
			t.Errorf("the root of a cancelled run has %v", root.Attributes)
		}
	}
}

// TestTracesWithContent asks for prompts and answers: they are sent, and secrets are not.
func TestTracesWithContent(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	f := newFleet(t, 0, "LLM_API_KEY="+tracedSecret, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+c.URL+"/v1/traces",
		"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true")
	f.output("run", benchtest.Topic(0), "--preset", "quick", "--kb", "docs")
	trees := c.trees(t)
	if len(trees) != 1 || !bytes.Contains(c.bytes(), []byte(benchtest.Topic(0))) {
		t.Errorf("%d traces, or the topic is not in it", len(trees))
	}
	for _, tr := range trees {
		tr.check(t, "of nightdesk run")
		for _, s := range tr.spans {
			a := attributes(s.Attributes)
			if messages := fmt.Sprint(a["gen_ai.input.messages"]); strings.HasPrefix(s.Name, "chat") &&
				!json.Valid([]byte(messages)) {
				t.Errorf("%s was asked %q", s.Name, messages)
			}
		}
	}
	if bytes.Contains(c.bytes(), []byte(tracedSecret)) {
		t.Error("the key was sent")
	}
}

// TestTracesWithoutCollector researches a topic while the collector hangs, fails, is away or is misconfigured: the
// report is there as without tracing, and one warning.
func TestTracesWithoutCollector(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(func() { close(release); hanging.Close() })
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusServiceUnavailable)
	}))
	t.Cleanup(failing.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	f := newFleet(t, 0, "NIGHTDESK_LOG_LEVEL=warn")
	for name, env := range map[string][]string{
		"hanging":       {"OTEL_EXPORTER_OTLP_ENDPOINT=" + hanging.URL, "OTEL_BSP_EXPORT_TIMEOUT=200"},
		"failing":       {"OTEL_EXPORTER_OTLP_ENDPOINT=" + failing.URL, "OTEL_BSP_EXPORT_TIMEOUT=200"},
		"away":          {"OTEL_EXPORTER_OTLP_ENDPOINT=" + gone.URL},
		"misconfigured": {"OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318"},
		"grpc":          {"OTEL_EXPORTER_OTLP_ENDPOINT=" + gone.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"},
		"disabled":      {"OTEL_EXPORTER_OTLP_ENDPOINT=" + gone.URL, "OTEL_SDK_DISABLED=true"},
	} {
		cmd := f.command("run", benchtest.Topic(0), "--preset", "quick", "--kb", "docs")
		cmd.Env = append(cmd.Env, append(env, "OTEL_BSP_SCHEDULE_DELAY=1")...)
		out, err := combined(cmd)
		if err != nil || !strings.Contains(out, ".md") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		want := 1
		if name == "disabled" {
			want = 0
		}
		if n := strings.Count(out, "traces are lost") + strings.Count(out, "tracing disabled"); n != want {
			t.Errorf("%s: %d warnings, want %d:\n%s", name, n, want, out)
		}
	}
}

func combined(cmd *exec.Cmd) (string, error) {
	out, err := cmd.CombinedOutput()
	return string(out), err
}
