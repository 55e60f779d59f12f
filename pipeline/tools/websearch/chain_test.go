package websearch_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/websearch"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/redisqueue/shared"
)

// world simulates the providers of a chain. Each returns its answers in order and repeats the last one. It records the
// queried providers.
type world struct {
	mu    sync.Mutex
	says  map[string][]func(ctx context.Context) (fetch.Response, error)
	asked []string
}

func (w *world) Do(ctx context.Context, r fetch.Request) (fetch.Response, error) {
	for name, list := range w.says {
		if !strings.Contains(r.URL, name+".example") {
			continue
		}
		w.mu.Lock()
		w.asked = append(w.asked, name)
		say := list[0]
		if len(list) > 1 {
			w.says[name] = list[1:]
		}
		w.mu.Unlock()
		return say(ctx)
	}
	return fetch.Response{}, errors.New("nobody is there")
}

// asks returns the providers queried since the last call.
func (w *world) asks() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = nil
	return asked
}

func says(status int, after time.Duration) func(context.Context) (fetch.Response, error) {
	return func(context.Context) (fetch.Response, error) {
		return fetch.Response{}, &fetch.StatusError{Status: status, RetryAfter: after, Host: "a.example"}
	}
}

func gives(body string) func(context.Context) (fetch.Response, error) {
	return func(context.Context) (fetch.Response, error) {
		return fetch.Response{Status: 200, Body: []byte(body)}, nil
	}
}

func hangs(ctx context.Context) (fetch.Response, error) {
	<-ctx.Done()
	return fetch.Response{}, context.Cause(ctx)
}

// chain returns a chain of providers in the order of their names, and its world.
func chain(t *testing.T, names []string, says map[string][]func(context.Context) (fetch.Response, error)) (*websearch.Chain, *world) {
	t.Helper()
	w := &world{says: says}
	var all []*websearch.Provider
	for _, name := range names {
		all = append(all, build(t, websearch.Settings{Name: name, BaseURL: "https://" + name + ".example", Key: secretKey, Outside: w, Pace: freely{}}))
	}
	return websearch.NewChain(all...), w
}

const page = `{"type":"search","results":[{"title":"T","url":"https://a.example/x","content":"Words.","highlights":["Words."]}],
	"web":{"results":[{"title":"T","url":"https://a.example/x","description":"Words."}]},"organic":[{"title":"T","link":"https://a.example/x","snippet":"Words."}]}`

func TestChain(t *testing.T) {
	t.Parallel()
	type script = map[string][]func(context.Context) (fetch.Response, error)
	two := []string{"searxng", "brave"}
	for _, tc := range []struct {
		name  string
		names []string
		says  script
		asked []string // by one search
		by    string   // who answers; empty: nobody
		words string   // what a model reads of a failure
		took  time.Duration
		pause time.Duration // before the next search
		next  []string      // asked by it
	}{
		{"the first answers", two, script{"searxng": {gives(page)}, "brave": {gives(page)}}, []string{"searxng"}, "searxng", "", 0, 0, []string{"searxng"}},
		{"the first finds nothing", two, script{"searxng": {gives(nothing["searxng"])}, "brave": {gives(page)}}, []string{"searxng"}, "searxng", "", 0, 0, []string{"searxng"}},
		{"in another order", []string{"brave", "searxng"}, script{"searxng": {gives(page)}, "brave": {gives(page)}}, []string{"brave"}, "brave", "", 0, 0, []string{"brave"}},
		{"a failure, and left alone for a while", two, script{"searxng": {says(500, 0)}, "brave": {gives(page)}}, []string{"searxng", "brave"}, "brave", "", 0, 29 * time.Second, []string{"brave"}},
		{"a failure, asked again later", two, script{"searxng": {says(500, 0)}, "brave": {gives(page)}}, []string{"searxng", "brave"}, "brave", "", 0, 31 * time.Second, []string{"searxng", "brave"}},
		{"HTML is of this query only", two, script{"searxng": {gives("<html>")}, "brave": {gives(page)}}, []string{"searxng", "brave"}, "brave", "", 0, 0, []string{"searxng", "brave"}},
		{"hangs", two, script{"searxng": {hangs}, "brave": {gives(page)}}, []string{"searxng", "brave"}, "brave", "", 15 * time.Second, 0, []string{"brave"}},
		{"both hang", two, script{"searxng": {hangs}, "brave": {hangs}}, []string{"searxng", "brave"}, "", "in time", time.Minute, 0, nil},
		{"wrong key, left alone", two, script{"searxng": {says(401, 0)}, "brave": {gives(page)}}, []string{"searxng", "brave"}, "brave", "", 0, 9 * time.Minute, []string{"brave"}},
		{"wrong key, the operator may have acted", two, script{"searxng": {says(401, 0), gives(page)}, "brave": {gives(page)}}, []string{"searxng", "brave"}, "brave", "", 0, 11 * time.Minute, []string{"searxng"}},
		{"wrong keys", two, script{"searxng": {says(401, 0)}, "brave": {says(402, 0)}}, []string{"searxng", "brave"}, "", "searxng is not set up for this desk, brave is not set up", 0, time.Minute, nil},
		{"asked too often, comes later", two, script{"searxng": {says(429, 2*time.Second), gives(page)}, "brave": {gives(page)}}, []string{"searxng", "searxng"}, "searxng", "", 2 * time.Second, 0, []string{"searxng"}},
		{"asked too often without a word", two, script{"searxng": {says(429, 0), gives(page)}, "brave": {gives(page)}}, []string{"searxng", "searxng"}, "searxng", "", time.Second, 0, []string{"searxng"}},
		{"asked too often again", two, script{"searxng": {says(429, 2*time.Second)}, "brave": {gives(page)}}, []string{"searxng", "searxng", "brave"}, "brave", "", 2 * time.Second, time.Second, []string{"brave"}},
		{"asked too often for long", two, script{"searxng": {says(429, time.Hour)}, "brave": {gives(page)}}, []string{"searxng", "brave"}, "brave", "", 0, 59 * time.Minute, []string{"brave"}},
		{"alone and too often for long", two[:1], script{"searxng": {says(429, time.Hour)}}, []string{"searxng"}, "", "searxng has been asked too often", 0, time.Minute, nil},
		{"alone and down: hope", two[:1], script{"searxng": {says(500, 0), gives(page)}}, []string{"searxng"}, "", "searxng has a failure", 0, 0, []string{"searxng"}},
		{"all down: hope", two, script{"searxng": {says(500, 0), gives(page)}, "brave": {says(503, 0)}}, []string{"searxng", "brave"}, "", "searxng has a failure, brave has a failure", 0, 0, []string{"searxng"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, w := chain(t, tc.names, tc.says)
				search := func() (websearch.Found, error) {
					ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errTime)
					defer cancel()
					return c.Search(ctx, "x", 3)
				}
				start := time.Now()
				found, err := search()
				if took := time.Since(start); took != tc.took {
					t.Errorf("took %s, want %s", took, tc.took)
				}
				if got := w.asks(); !slices.Equal(got, tc.asked) || found.Provider != tc.by || (err == nil) != (tc.by != "") {
					t.Errorf("asked %v, %q answers: %v", got, found.Provider, err)
				}
				var failed *websearch.FailedError
				switch {
				case err == nil || errors.Is(err, errTime):
				case !errors.As(err, &failed):
					t.Errorf("%T: %v", err, err)
				default:
					var words []string
					for _, e := range failed.Errors {
						words = append(words, e.Words())
						refusal(t, e)
					}
					if got := strings.Join(words, ", "); !strings.Contains(got, tc.words) {
						t.Errorf("%q", got)
					}
				}
				if errors.Is(err, errTime) { // over for good
					return
				}
				time.Sleep(tc.pause)
				_, _ = search()
				if got := w.asks(); !slices.Equal(got, tc.next) {
					t.Errorf("then asked %v, want %v", got, tc.next)
				}
			})
		})
	}
}

var errTime = errors.New("the time of the call is over")

// TestChain_Together: searches made while the only provider asks for a short pause wait for it together.
func TestChain_Together(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, w := chain(t, []string{"brave"}, map[string][]func(context.Context) (fetch.Response, error){"brave": {says(429, 2*time.Second), gives(page)}})
		start := time.Now()
		if _, err := c.Search(t.Context(), "x", 3); err != nil || time.Since(start) != 2*time.Second {
			t.Fatalf("%s, %v", time.Since(start), err)
		}
		w.says["brave"] = []func(context.Context) (fetch.Response, error){says(429, 3*time.Second), gives(page)}
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.Search(t.Context(), "x", 3); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait() // it was told to come later
		w.asks()
		wg.Go(func() {
			if _, err := c.Search(t.Context(), "y", 3); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if got := w.asks(); len(got) > 0 {
			t.Errorf("%v is asked before its time", got)
		}
		wg.Wait()
	})
}

// TestChain_Log: problems for the operator are logged once, with advice, until the provider works again. The key is
// never logged.
func TestChain_Log(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := chain(t, []string{"searxng", "tavily"}, map[string][]func(context.Context) (fetch.Response, error){
			"searxng": {says(403, 0), says(403, 0), gives(page), says(403, 0)}, "tavily": {gives(page)},
		})
		var log bytes.Buffer
		ctx := zerolog.New(&log).WithContext(t.Context())
		for range 4 {
			if _, err := c.Search(ctx, "query "+secretKey, 3); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
		}
		if n := strings.Count(log.String(), `"level":"warn"`); n != 2 || !strings.Contains(log.String(), `"do":`) || strings.Contains(log.String(), secretKey) {
			t.Errorf("%d warnings:\n%s", n, log.String())
		}
	})
}

// TestRateIsShared: all workers share the rate of a provider.
func TestRateIsShared(t *testing.T) {
	t.Parallel()
	const every, each = 100 * time.Millisecond, 4
	rdb := redistest.Server(t)
	var mu sync.Mutex
	var at []time.Time
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		at = append(at, time.Now())
		mu.Unlock()
		answers(200, "application/json", []byte(page))(w, r)
	})
	start := time.Now()
	var wg sync.WaitGroup
	for range 2 { // two workers
		p := build(t, websearch.Settings{Name: "brave", BaseURL: base, Key: secretKey, Every: every, Outside: outside(t, time.Minute), Pace: shared.NewPace(rdb)})
		for range each {
			wg.Go(func() {
				if _, err := p.Search(t.Context(), "x", 1); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if took := at[len(at)-1].Sub(start); len(at) != 2*each || took < (2*each-1)*every { // they may come late, never early
		t.Errorf("%d requests in %s", len(at), took)
	}
}

// TestNoTimeForATurn: a call does not wait for a turn after its end.
func TestNoTimeForATurn(t *testing.T) {
	t.Parallel()
	w := &world{says: map[string][]func(context.Context) (fetch.Response, error){"brave": {gives(page)}, "exa": {gives(page)}}}
	pace := shared.NewPace(redistest.InProcess(t))
	slow := build(t, websearch.Settings{Name: "brave", BaseURL: "https://brave.example", Every: time.Hour, Outside: w, Pace: pace})
	other := build(t, websearch.Settings{Name: "exa", BaseURL: "https://exa.example", Outside: w, Pace: freely{}})
	c := websearch.NewChain(slow, other)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, want := range []string{"brave", "exa", "exa"} {
		if found, err := c.Search(ctx, "x", 1); err != nil || found.Provider != want {
			t.Errorf("%s answers, want %s: %v", found.Provider, want, err)
		}
	}
}

// slowed is a pace that records slowed keys.
type slowed struct {
	freely
	keys chan string
}

func (s slowed) Slow(_ context.Context, key string, _ time.Duration) error {
	s.keys <- key
	return nil
}

// TestRefusalsSlowDown: only an engine that reports too many requests is slowed down.
func TestRefusalsSlowDown(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{429: 1, 500: 0, 200: 0} {
		pace := slowed{keys: make(chan string, 9)}
		handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"results":[]}`)
		})
		p := build(t, websearch.Settings{Name: "searxng", BaseURL: serve(t, handler),
			Outside: outside(t, time.Minute), Pace: pace})
		_, err := p.Search(t.Context(), "harbours", 1)
		if (err == nil) != (status == http.StatusOK) || len(pace.keys) != want {
			t.Errorf("%d: %v, slowed %d times", status, err, len(pace.keys))
		}
	}
}
