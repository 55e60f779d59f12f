package llm_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue"
)

// desk is a governor that records its calls. down: it blocks patient calls until up is closed.
type desk struct {
	up     chan struct{} // nil: the server is never down
	queued bool

	mu    sync.Mutex
	calls []topicqueue.Call
	ends  []topicqueue.CallEnd
}

func (d *desk) isDown() bool {
	select {
	case <-d.up:
		return false
	default:
		return d.up != nil
	}
}

func (d *desk) Acquire(ctx context.Context, call topicqueue.Call) (topicqueue.Permit, error) {
	d.mu.Lock()
	d.calls = append(d.calls, call)
	held := len(d.ends) > 0 && d.isDown()
	d.mu.Unlock()
	if held && !call.Waits(time.Now()) {
		return topicqueue.Permit{}, topicqueue.ErrServerDown
	}
	if held {
		var impatient <-chan time.Time
		if !call.Until.IsZero() {
			impatient = time.After(time.Until(call.Until))
		}
		select {
		case <-impatient:
			return topicqueue.Permit{}, topicqueue.ErrServerDown
		case <-d.up:
		case <-ctx.Done():
			return topicqueue.Permit{}, context.Cause(ctx)
		}
	}
	return topicqueue.Permit{ID: "p"}, nil
}

func (d *desk) Release(_ context.Context, p topicqueue.Permit, end topicqueue.CallEnd) topicqueue.CallVerdict {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.ID != "p" {
		panic("released what was not granted")
	}
	d.ends = append(d.ends, end)
	return topicqueue.CallVerdict{Down: d.isDown(), Queued: d.queued}
}

func (d *desk) outcomes() []topicqueue.CallOutcome {
	var out []topicqueue.CallOutcome
	for _, e := range d.ends {
		out = append(out, e.Outcome)
	}
	return out
}

// governed returns a client for handler in memory, with two tries of ten seconds, and its governor.
func governed(t *testing.T, handler http.Handler, d *desk) *llm.Client {
	t.Helper()
	return governedBy(t, llm.ProviderOpenAI, handler, d)
}

func governedBy(t *testing.T, p llm.Provider, handler http.Handler, d *desk) *llm.Client {
	t.Helper()
	c, err := llm.NewClient(llm.Settings{
		Roles: map[llm.Role]llm.RoleSettings{llm.Researcher: {
			Provider: p, Model: "m", BaseURL: "http://model.test/v1", APIKey: testKey, MaxTokens: 1000, Timeout: 10 * time.Second, MaxTries: 2,
		}},
		HTTPClient: &http.Client{Transport: llmtest.Memory{Handler: handler}}, Governor: d,
		Limits: topicqueue.CallLimits{RequestsPerMinute: 60, TokensPerMinute: 7000, InFlight: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// statuses answers with these statuses in order, then successfully.
func statuses(codes ...int) *llmtest.Stub {
	return &llmtest.Stub{Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
		if q.Number > len(codes) {
			return false
		}
		if codes[q.Number-1] == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(codes[q.Number-1])
		return true
	}}
}

func TestGovernorIsToldEachTry(t *testing.T) {
	t.Parallel()
	answered, up, busy, away, failed := topicqueue.CallAnswered, topicqueue.CallUp, topicqueue.CallThrottled, topicqueue.CallUnavailable, topicqueue.CallFailed
	for name, tc := range map[string]struct {
		codes []int
		want  []topicqueue.CallOutcome
		err   error
	}{
		"answered":                   {nil, []topicqueue.CallOutcome{answered}, nil},
		"throttled is no try":        {[]int{429, 429, 529, 429, 429}, []topicqueue.CallOutcome{busy, busy, busy, busy, busy, answered}, nil},
		"throttled, then one try":    {[]int{429, 500, 429}, []topicqueue.CallOutcome{busy, failed, busy, answered}, nil},
		"nobody there":               {[]int{503, 502}, []topicqueue.CallOutcome{away, away}, llm.ErrUnavailable},
		"failed":                     {[]int{500, 500}, []topicqueue.CallOutcome{failed, failed}, llm.ErrUnavailable},
		"asks for another":           {[]int{409}, []topicqueue.CallOutcome{up, answered}, nil},
		"asks for another too often": {[]int{409, 408}, []topicqueue.CallOutcome{up, up}, llm.ErrUnavailable},
		"bad key":                    {[]int{401}, []topicqueue.CallOutcome{up}, llm.ErrPermanent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &desk{}
				if _, err := governed(t, statuses(tc.codes...), d).Generate(t.Context(), free()); !errors.Is(err, tc.err) {
					t.Errorf("error %v, want %v", err, tc.err)
				}
				if diff := cmp.Diff(tc.want, d.outcomes()); diff != "" {
					t.Errorf("outcomes (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestGovernorKnowsTheCall(t *testing.T) {
	t.Parallel()
	d := &desk{}
	c := governed(t, &llmtest.Stub{}, d)
	first, err := c.Generate(t.Context(), free())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Generate(t.Context(), structured()); err != nil {
		t.Fatal(err)
	}
	report, block := d.calls[0], d.calls[1]
	if report.ID == block.ID || report.Server != block.Server || len(report.Server) != 20 || strings.Contains(report.Server, testKey) {
		t.Errorf("ids %q %q, servers %q %q", report.ID, block.ID, report.Server, block.Server)
	}
	if !report.First || block.First || report.Run != "r" || !report.Patient || report.Host != "model.test" || report.Limits.TokensPerMinute != 7000 {
		t.Errorf("report %+v\nblock %+v", report, block)
	}
	if used := first.Usage.PromptTokens + first.Usage.CompletionTokens; d.ends[0].Tokens != used || report.Tokens < 1000+10 {
		t.Errorf("reserved %d, used %d, told %d", report.Tokens, used, d.ends[0].Tokens)
	}
}

// An outage uses up no tries: calls wait until it is over, or until their context ends.
func TestOutageIsWaitedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{up: make(chan struct{})}
		stub := &llmtest.Stub{Intercept: func(w http.ResponseWriter, _ llmtest.Question) bool {
			if d.isDown() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return d.isDown()
		}}
		c := governed(t, stub, d)
		time.AfterFunc(time.Hour, func() { close(d.up) })
		var wg sync.WaitGroup
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := c.Generate(ctx, free()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("with a deadline: %v", err)
			}
		})
		wg.Go(func() {
			start := time.Now()
			if _, err := c.Generate(t.Context(), free()); err != nil || time.Since(start) != time.Hour {
				t.Errorf("without one: %v after %s", err, time.Since(start))
			}
		})
		wg.Wait()
	})
}

// A probe does not wait: it bypasses the governor and accepts a refusal.
func TestProbeIsPrompt(t *testing.T) {
	t.Parallel()
	for _, code := range []int{429, 503, 500} {
		synctest.Test(t, func(t *testing.T) {
			d := &desk{up: make(chan struct{})}
			start := time.Now()
			_, _, err := governed(t, statuses(code, code, code), d).Probe(t.Context(), llm.Researcher)
			if !errors.Is(err, llm.ErrUnavailable) || time.Since(start) > 0 || len(d.calls) > 0 {
				t.Errorf("%d: %v after %s", code, err, time.Since(start))
			}
		})
	}
}

// A try that was late because others were served first is repeated unchanged. It does not count as one of the two late
// tries.
func TestQueuedIsNotLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{queued: true}
		var limits []int
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			(&llmtest.Stub{Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
				if limits = append(limits, q.MaxTokens); len(limits) == 1 {
					<-r.Context().Done()
				}
				return false
			}}).ServeHTTP(w, r)
		})
		if _, err := governed(t, handler, d).Generate(t.Context(), free()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{1000, 1000}, limits); diff != "" || d.ends[0].Outcome != topicqueue.CallLate {
			t.Errorf("limits (-want +got):\n%s%v", diff, d.ends)
		}
	})
}

// A query does not wait for an embedding server that is down, because it can search by words. Passages wait.
func TestEmbed_Outage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{up: make(chan struct{})}
		s := &llmtest.Embeddings{Intercept: func(w http.ResponseWriter, _ llmtest.EmbeddingQuestion) bool {
			if d.isDown() {
				w.WriteHeader(http.StatusBadGateway)
			}
			return d.isDown()
		}}
		e := embedderInMemory(t, s, func(s *llm.EmbedderSettings) { s.Governor = d })
		start := time.Now()
		time.AfterFunc(time.Hour, func() { close(d.up) })
		for range 2 {
			if _, err := e.EmbedQuery(t.Context(), "a"); !errors.Is(err, llm.ErrUnavailable) || time.Since(start) > time.Minute {
				t.Errorf("query: %v after %s", err, time.Since(start))
			}
		}
		texts := numbered(3)
		got, err := e.Embed(t.Context(), texts)
		if err != nil || time.Since(start) != time.Hour {
			t.Fatalf("passages: %v after %s", err, time.Since(start))
		}
		check(t, s, texts, got)
	})
}

func TestInterruptedIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		why := errors.New("the desk closes")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		_, err := governed(t, &llmtest.Stub{Latency: 5 * time.Second}, d).Generate(ctx, free())
		want := []topicqueue.CallEnd{{Outcome: topicqueue.CallInterrupted, Tokens: -1}}
		if diff := cmp.Diff(want, d.ends); !errors.Is(err, why) || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}
