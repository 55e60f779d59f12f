package tracing_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	collected "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"nightdesk/jobs/tracing"
)

// sent counts the received spans of each trace.
type sent struct {
	mu     sync.Mutex
	traces map[string]int
}

func (s *sent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	var req collected.ExportTraceServiceRequest
	if err := proto.Unmarshal(data, &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range req.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				s.traces[string(span.TraceId)]++
			}
		}
	}
}

// TestSampledRunsAreWhole: with a sampling rate of one half, a run is traced completely or not at all, whichever
// process writes its spans.
func TestSampledRunsAreWhole(t *testing.T) {
	got := &sent{traces: map[string]int{}}
	server := httptest.NewServer(got)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
	t.Setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
	const runs = 200
	processes := []*tracing.Tracer{tracing.Start(t.Context(), zerolog.Nop()), tracing.Start(t.Context(), zerolog.Nop())}
	now := time.Now()
	for i := range runs {
		id := fmt.Sprint("research_", i)
		processes[0].Run(id, 0).Write(tracing.Span{Parent: tracing.Root, Name: "chat", Start: now, End: now})
		processes[1].Run(id, 0).Write(tracing.Span{ID: tracing.Root, Name: "run", Start: now, End: now})
	}
	for _, p := range processes {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}
	if n := len(got.traces); n < runs/4 || n > runs*3/4 {
		t.Errorf("%d of %d runs are traced", n, runs)
	}
	for id, spans := range got.traces {
		if spans != 2 {
			t.Errorf("trace %x has %d spans", id, spans)
		}
	}
}

// TestWritingNeverBlocks: a hanging collector does not block writers of spans.
func TestWritingNeverBlocks(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	tracer := tracing.Start(t.Context(), zerolog.Nop())
	run, now := tracer.Run("research_1", 0), time.Now()
	for range 20_000 { // the queue has room for a tenth of them
		run.Write(tracing.Span{Parent: tracing.Root, Name: "chat", Start: now, End: now})
	}
	if err := tracer.Stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(now); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestOffByDefault(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	tracer := tracing.Start(t.Context(), zerolog.Nop())
	if tracer != nil {
		t.Fatal("it traces though nobody has asked for it")
	}
	run := tracer.Run("research_1", 0)
	run.Write(tracing.Span{ID: tracing.Root, Name: "run"})
	run.Flush(t.Context())
	if err := tracer.Stop(); err != nil || run.On() || run.Content() {
		t.Errorf("%v; on: %v", err, run.On())
	}
}
