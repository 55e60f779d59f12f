package tools_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/redisqueue/shared"
)

// named is a tool of this name whose behaviour is set by the test.
type named struct {
	name string
	do   func(ctx context.Context, query string) (tools.Result, error)
}

func (n named) Name() string        { return n.name }
func (n named) Description() string { return "A tool of the tests." }
func (n named) Call(ctx context.Context, call tools.Call) (tools.Result, error) {
	return n.do(ctx, call.Query)
}

// hit is a result with one source.
func hit(query string) (tools.Result, error) {
	text := "What is known of " + query
	return tools.Result{Text: "answer: " + query, Sources: []topicqueue.Source{{Kind: topicqueue.SourceWeb, URL: "https://a.example/" + topicqueue.TextHash(query)[:8], Text: text}}}, nil
}

// office holds several workers on one Redis and one storage.
type office struct {
	t     *testing.T
	rdb   *redis.Client
	pages *bundle
	lease time.Duration
}

// worker returns a Runner with a separate connection. looked receives a value for each of its reads from Redis.
func (o *office) worker(tool tools.Tool) (r *tools.Runner, rdb *redis.Client, looked <-chan struct{}) {
	o.t.Helper()
	rdb = redis.NewClient(&redis.Options{Network: o.rdb.Options().Network, Addr: o.rdb.Options().Addr, MaxRetries: -1})
	looks := lookHook(make(chan struct{}, 1000))
	rdb.AddHook(looks)
	calls := shared.NewCalls(rdb, o.lease)
	o.t.Cleanup(func() {
		calls.Close()
		rdb.Close()
	})
	return &tools.Runner{Tools: tools.Set{tool}, Pages: o.pages, Timeout: 20 * time.Second, Shared: calls,
		Scope: tools.Scope{Public: "batch", Private: "run"}, Lifetime: time.Hour}, rdb, looks
}

// lookHook signals the reply of a script.
type lookHook chan struct{}

func (h lookHook) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h lookHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if err == nil && strings.HasPrefix(cmd.Name(), "eval") {
			select {
			case h <- struct{}{}:
			default:
			}
		}
		return err
	}
}
func (h lookHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// lookOrEnd waits for a Redis read of a waiting call. The call must not end before.
func lookOrEnd(t *testing.T, looked, ended <-chan struct{}) bool {
	t.Helper()
	select {
	case <-looked:
		return true
	case <-ended:
		t.Error("the call did not wait for the one that is being made")
		return false
	}
}

func offices(t *testing.T, test func(t *testing.T, o *office)) {
	t.Helper()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		test(t, &office{t: t, rdb: rdb, pages: &bundle{}, lease: shared.Lease})
	})
}

// TestShareQueries: three blocks on three workers make ten queries each, twelve of which are other forms of the same
// queries: 18 calls are made.
func TestShareQueries(t *testing.T) {
	t.Parallel()
	offices(t, func(t *testing.T, o *office) {
		const blocks, each, different = 3, 10, 18
		var calls atomic.Int32
		all := make(chan struct{}) // closed when all 18 calls are being made: whoever asks the same waits for them
		search := named{"web_search", func(ctx context.Context, query string) (tools.Result, error) {
			if calls.Add(1) == different {
				close(all)
			}
			select {
			case <-all:
				return hit(query)
			case <-ctx.Done():
				return tools.Result{}, context.Cause(ctx)
			}
		}}
		forms := []func(n int) string{
			func(n int) string { return fmt.Sprintf("How deep is fjord %d?", n) },
			func(n int) string { return fmt.Sprintf("  how DEEP is   fjord %d", n) },
			func(n int) string { return fmt.Sprintf("fjord %d: how deep is", n) },
		}
		var wg sync.WaitGroup
		var saved atomic.Int32
		for b := range blocks {
			r, _, _ := o.worker(search)
			for q := range each {
				n := q // the first six are asked by all blocks
				if q >= 6 {
					n = 6 + b*4 + q - 6
				}
				wg.Go(func() {
					runID := fmt.Sprintf("run_%d", b)
					answer, err := r.Call(t.Context(), runID, "web_search", tools.Call{Query: forms[b](n)})
					if err != nil || answer.Failed || len(answer.Sources) != 1 || answer.Sources[0].Text == "" {
						t.Errorf("block %d, query %d: %+v, %v", b, n, answer, err)
						return
					}
					for _, hash := range []string{answer.Sources[0].Hash, topicqueue.TextHash(answer.Text)} {
						if text, _ := o.pages.Page(t.Context(), runID, hash); topicqueue.TextHash(text) != hash {
							t.Errorf("block %d, query %d: a text is not in the bundle of its run", b, n)
						}
					}
					if answer.Shared {
						saved.Add(1)
					}
				})
			}
		}
		wg.Wait()
		if calls.Load() != different || saved.Load() != blocks*each-different {
			t.Errorf("%d calls were made, %d saved", calls.Load(), saved.Load())
		}
	})
}

// TestShareAfterFailure: the first call fails temporarily. One waiting caller tries again, and both get its result.
func TestShareAfterFailure(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		works  int32 // the call that does
		failed bool  // what all get in the end
	}{{"once", 2, false}, {"for ever", 1000, true}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			offices(t, func(t *testing.T, o *office) {
				var calls atomic.Int32
				begun, waited := make(chan struct{}), make(chan struct{})
				search := named{"web_search", func(_ context.Context, query string) (tools.Result, error) {
					n := calls.Add(1)
					if n == 1 {
						close(begun)
						<-waited
					}
					if n < tc.works {
						return tools.Result{Failed: true, Text: "the server has a failure (500)"}, nil
					}
					return hit(query)
				}}
				first, _, _ := o.worker(search)
				ask := func(r *tools.Runner, run string) {
					if a, err := r.Call(t.Context(), run, "web_search", tools.Call{Query: "tides"}); err != nil || a.Failed != tc.failed || a.Text == "" {
						t.Errorf("%s: %+v, %v", run, a, err)
					}
				}
				var wg sync.WaitGroup
				wg.Go(func() { ask(first, "run_1") })
				<-begun
				for _, run := range []string{"run_2", "run_3"} {
					r, _, looked := o.worker(search)
					ended := make(chan struct{})
					wg.Go(func() {
						defer close(ended)
						ask(r, run)
					})
					lookOrEnd(t, looked, ended)
				}
				close(waited)
				wg.Wait()
				if calls.Load() != 2 {
					t.Errorf("%d calls", calls.Load())
				}
			})
		})
	}
}

// TestShareForgetsFailures: a failure without waiting callers is not stored.
func TestShareForgetsFailures(t *testing.T) {
	t.Parallel()
	offices(t, func(t *testing.T, o *office) {
		fails, final := true, false
		calls := 0
		r, _, _ := o.worker(named{"open_page", func(_ context.Context, query string) (tools.Result, error) {
			calls++
			if fails {
				return tools.Result{Failed: true, Final: final, Text: "no"}, nil
			}
			return hit(query)
		}})
		call := func(address string) tools.Answer {
			a, err := r.Call(t.Context(), "run", "open_page", tools.Call{Query: address})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		call("https://a.example/x")
		fails = false
		if a := call("https://a.example/x"); a.Failed || a.Shared {
			t.Errorf("a failure stayed: %+v", a)
		}
		fails, final = true, true
		call("https://a.example/missing")
		fails = false
		if a := call("http://a.example/missing#x"); !a.Failed || !a.Shared {
			t.Errorf("a page that does not exist was asked for again: %+v", a)
		}
		if calls != 3 {
			t.Errorf("%d calls", calls)
		}
	})
}

// TestSharePages: twenty pages are opened, eight of them by another spelling of their address or through a redirect:
// twelve fetches.
func TestSharePages(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		o := &office{t: t, rdb: rdb, pages: &bundle{}, lease: shared.Lease}
		var fetched atomic.Int32
		tool, site := opener(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/robots.txt":
				http.NotFound(w, r)
			case strings.HasPrefix(r.URL.Path, "/old"):
				http.Redirect(w, r, "/new"+strings.TrimPrefix(r.URL.Path, "/old"), http.StatusMovedPermanently)
			default:
				fetched.Add(1)
				fmt.Fprintf(w, "<title>Page %s</title><article><p>The page %s says something about tides that is worth reading.</p></article>", r.URL.Path, r.URL.Path)
			}
		})
		r, _, _ := o.worker(tool)
		sources := map[string]string{}
		open := func(address, page string) {
			t.Helper()
			a, err := r.Call(t.Context(), "run", "open_page", tools.Call{Query: address})
			if err != nil || a.Failed || len(a.Sources) != 1 {
				t.Fatalf("%s: %+v, %v", address, a, err)
			}
			if id, ok := sources[page]; ok && id != a.Sources[0].ID {
				t.Errorf("%s is another source than the page it is", address)
			}
			sources[page] = a.Sources[0].ID
		}
		for n := range 10 {
			open(fmt.Sprintf("%s/p%d?id=%d", site, n, n), fmt.Sprint(n))
		}
		open(site+"/old1", "new1")
		open(site+"/new2/", "new2")
		for n, form := range []string{"%s/p0?id=0#top", "%s/p1?utm_source=x&id=1", "%s/p2?id=2&fbclid=y", "%s/p3/?id=3", "%s/p4?id=4&", "<%s/p5?id=5>"} {
			open(fmt.Sprintf(form, site), fmt.Sprint(n))
		}
		open(site+"/new1", "new1") // where the redirect led to
		open(site+"/new2", "new2")
		if fetched.Load() != 12 {
			t.Errorf("%d fetches", fetched.Load())
		}
	})
}

// TestShareOutlivesItsMaker: the caller dies during the call. A waiting caller makes the call when the lease has
// expired.
func TestShareOutlivesItsMaker(t *testing.T) {
	t.Parallel()
	offices(t, func(t *testing.T, o *office) {
		o.lease = 400 * time.Millisecond
		var calls atomic.Int32
		begun, hang := make(chan struct{}), make(chan struct{})
		defer close(hang)
		search := named{"web_search", func(_ context.Context, query string) (tools.Result, error) {
			if calls.Add(1) == 1 {
				close(begun)
				<-hang
			}
			return hit(query)
		}}
		dead, connection, _ := o.worker(search)
		leased := time.Now() // or later
		go dead.Call(t.Context(), "run_1", "web_search", tools.Call{Query: "tides"})
		<-begun
		connection.Close() // it says nothing more
		r, _, _ := o.worker(search)
		a, err := r.Call(t.Context(), "run_2", "web_search", tools.Call{Query: "tides"})
		if err != nil || a.Failed || a.Shared || calls.Load() != 2 {
			t.Fatalf("%+v, %v after %d calls", a, err, calls.Load())
		}
		if took := time.Since(leased); took < o.lease-10*time.Millisecond || took > time.Minute {
			t.Errorf("taken over after %s", took)
		}
	})
}

// TestShareOutlivesItsRun: the run of the caller is cancelled. The call continues for waiting callers, and its renewed
// lease does not expire.
func TestShareOutlivesItsRun(t *testing.T) {
	t.Parallel()
	offices(t, func(t *testing.T, o *office) {
		o.lease = 3 * time.Second // renewed four times in that: a loaded machine may be late with one
		var calls atomic.Int32
		begun, goOn := make(chan struct{}), make(chan struct{})
		search := named{"web_search", func(ctx context.Context, query string) (tools.Result, error) {
			if calls.Add(1) == 1 {
				close(begun)
			}
			select {
			case <-goOn:
				return hit(query)
			case <-ctx.Done():
				return tools.Result{}, context.Cause(ctx)
			}
		}}
		why := errors.New("the run was cancelled")
		ctx, cancel := context.WithCancelCause(t.Context())
		first, _, _ := o.worker(search)
		ended := make(chan error)
		go func() {
			_, err := first.Call(ctx, "run_1", "web_search", tools.Call{Query: "tides"})
			ended <- err
		}()
		<-begun
		cancel(why)
		if err := <-ended; !errors.Is(err, why) {
			t.Errorf("the cancelled call: %v", err)
		}
		r, _, looked := o.worker(search)
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			if a, err := r.Call(t.Context(), "run_2", "web_search", tools.Call{Query: "tides"}); err != nil || a.Failed || !a.Shared {
				t.Errorf("%+v, %v", a, err)
			}
		}()
		for begin := time.Now(); time.Since(begin) < 2*o.lease && lookOrEnd(t, looked, answered); { // longer than the lease
		}
		close(goOn)
		<-answered
		if calls.Load() != 1 {
			t.Errorf("%d calls", calls.Load())
		}
	})
}

// TestShareWithWhom: results are shared only within their scope. A caller that cannot share makes the call.
func TestShareWithWhom(t *testing.T) {
	t.Parallel()
	offices(t, func(t *testing.T, o *office) {
		for _, tc := range []struct {
			name, tool, query string
			change            func(r *tools.Runner, rdb *redis.Client)
			calls             int
		}{
			{"the same batch", "web_search", "a", func(*tools.Runner, *redis.Client) {}, 1},
			{"another batch", "web_search", "b", func(r *tools.Runner, _ *redis.Client) { r.Scope.Public = "other" }, 2},
			{"another date", "web_search", "c", func(*tools.Runner, *redis.Client) {}, 2},
			{"another run of the batch", "rag_hybrid", "d", func(r *tools.Runner, _ *redis.Client) { r.Scope.Private = "other" }, 2},
			{"the same run", "rag_hybrid", "e", func(*tools.Runner, *redis.Client) {}, 1},
			{"a program", "run_code", "f", func(*tools.Runner, *redis.Client) {}, 2},
			{"nobody", "web_search", "g", func(r *tools.Runner, _ *redis.Client) { r.Scope = tools.Scope{} }, 2},
			{"Redis is away", "web_search", "h", func(_ *tools.Runner, rdb *redis.Client) { rdb.Close() }, 2},
			{"the texts are gone", "web_search", "i", func(r *tools.Runner, _ *redis.Client) { r.Pages = &bundle{} }, 2},
		} {
			calls := 0
			tool := named{tc.tool, func(_ context.Context, query string) (tools.Result, error) {
				calls++
				return hit(query)
			}}
			for n := range 2 {
				r, rdb, _ := o.worker(tool)
				query := tc.query
				if n == 1 {
					if tc.change(r, rdb); tc.name == "another date" {
						query += " after:2025"
					}
				}
				if a, err := r.Call(t.Context(), "run", tc.tool, tools.Call{Query: query}); err != nil || a.Failed || a.Sources[0].Text == "" || a.Shared != (n == 1 && tc.calls == 1) {
					t.Errorf("%s, call %d: %+v, %v", tc.name, n+1, a, err)
				}
			}
			if calls != tc.calls {
				t.Errorf("%s: %d calls, want %d", tc.name, calls, tc.calls)
			}
		}
	})
}
