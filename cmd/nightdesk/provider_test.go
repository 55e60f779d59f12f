package main_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"sync"
	"testing"
	"time"

	"nightdesk/pipeline/llm/llmtest"
)

// go test ./cmd/nightdesk -run TestProviderCap -v -timeout 20m -args -provider.full takes six minutes and checks what
// is promised. Without the flag all times are short and the figures are only shown: the machine may be busy with
// other tests.
var providerFull = flag.Bool("provider.full", false, "TestProviderCap with 50 topics and an outage of two minutes, to the promised figures")

// provider is a model server that takes so many calls at a time, and refuses more with 429.
type provider struct {
	http.Handler               // answers what is not refused
	least, most  time.Duration // what a call takes

	mu                     sync.Mutex
	cap, inside            int
	down                   bool
	answered, refused, off int // since the last call of window; off: answered with 503
	changed                time.Time
	open, used             time.Duration // time of all places, and of those that were used
	back                   time.Time     // of the first answer since up
}

// advance counts the time since the last change. p.mu is held.
func (p *provider) advance() {
	now := time.Now()
	p.open += now.Sub(p.changed) * time.Duration(p.cap)
	p.used += now.Sub(p.changed) * time.Duration(min(p.inside, p.cap))
	p.changed = now
}

// enter returns the status of a call; with 200 it is to be answered and then to leave.
func (p *provider) enter() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance()
	switch {
	case p.down:
		p.off++
		return http.StatusServiceUnavailable
	case p.inside >= p.cap:
		p.refused++
		return http.StatusTooManyRequests
	}
	p.inside++
	return http.StatusOK
}

func (p *provider) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance()
	p.inside--
	p.answered++
	if p.back.IsZero() {
		p.back = time.Now()
	}
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch status := p.enter(); status {
	case http.StatusOK:
		defer p.leave()
		time.Sleep(p.least + rand.N(p.most-p.least+1)) // the model thinks
		p.Handler.ServeHTTP(w, r)
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(status)
	default:
		w.WriteHeader(status)
	}
}

// set changes the cap and whether every call is answered with 503.
func (p *provider) set(limit int, down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance()
	p.cap, p.down, p.back = limit, down, time.Time{}
}

// window returns which part of the calls was refused and which part of the cap's time was used in the next d.
func (p *provider) window(t *testing.T, what string, d time.Duration) (refused, goodput float64, off int) {
	t.Helper()
	p.mu.Lock()
	p.advance()
	p.answered, p.refused, p.off, p.open, p.used = 0, 0, 0, 0, 0
	p.mu.Unlock()
	time.Sleep(d) // other programs are measured
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance()
	refused = float64(p.refused) / float64(max(p.answered+p.refused, 1))
	goodput = p.used.Seconds() / p.open.Seconds()
	t.Logf("%-28s %4.0f s: %5d answered, %3d refused (%.1f %%), goodput %.1f %%, %d times 503", what, d.Seconds(), p.answered, p.refused, 100*refused, 100*goodput, p.off)
	return refused, goodput, p.off
}

// TestProviderCap works a batch with four worker processes and a model server that takes eight calls at a time, then
// four, is away for some time, and takes eight again: it is used well, seldom refuses, and every run completes.
func TestProviderCap(t *testing.T) {
	t.Parallel()
	topics, preset := 14, "medium"
	start, window, halved, outage := 2*time.Second, 2*time.Second, 2*time.Second, 3*time.Second
	if *providerFull {
		topics, preset = 50, "deep"
		start, window, halved, outage = 10*time.Second, 30*time.Second, 20*time.Second, 2*time.Minute
	}
	answers := newFleetModel(8)
	p := &provider{Handler: &llmtest.Stub{Answer: answers.answer}, cap: 8, changed: time.Now(), least: 50 * time.Millisecond, most: 200 * time.Millisecond}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	f := newFleet(t, 0, "LLM_BASE_URL="+server.URL+"/v1")
	f.enqueue(topics, "--preset", preset)
	check := func(what string, d time.Duration) {
		t.Helper()
		if refused, goodput, _ := p.window(t, what, d); *providerFull && (refused > 0.02 || goodput < 0.9) {
			t.Errorf("%s: %.1f %% refused, goodput %.1f %%", what, 100*refused, 100*goodput)
		}
	}
	began := time.Now()
	var workers []*exec.Cmd
	for range 4 {
		workers = append(workers, f.worker(20))
	}
	p.window(t, "start, cap 8", start)
	check("cap 8", window)
	p.set(4, false)
	p.window(t, "cap halved to 4", halved)
	check("cap 4", min(window, 10*time.Second))
	p.set(4, true)
	if _, _, asked := p.window(t, "outage", outage); asked > 24 {
		t.Errorf("%d calls were made although the server was away", asked)
	}
	p.set(8, false)
	up := time.Now()
	p.window(t, "server is back, cap 8", min(window, 20*time.Second))
	states := f.wait(topics)
	p.mu.Lock()
	again := p.back.Sub(up)
	p.mu.Unlock()
	_, calls := answers.most()
	t.Logf("%d topics, %d calls answered in %s; first answer %s after the outage", topics, calls, time.Since(began).Round(100*time.Millisecond), again.Round(10*time.Millisecond))
	for _, w := range workers {
		f.stop(w)
	}
	f.checkReports(topics, states)
	if t.Failed() {
		fmt.Println(f.output("list", "--batch", "fleet"))
	}
}
