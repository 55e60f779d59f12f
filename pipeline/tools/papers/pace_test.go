package papers_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"nightdesk/pipeline/tools/papers"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/redisqueue/shared"
)

// TestArXivIntervalOverWorkers: two workers that share a Redis keep arXiv's interval together, including retries of
// empty pages, with one request at a time each.
func TestArXivIntervalOverWorkers(t *testing.T) {
	t.Parallel()
	const every = 60 * time.Millisecond
	rdb := redistest.Server(t)
	var mu sync.Mutex
	var begun []time.Time
	worker := func() *desk {
		d := newDesk(t, func(s *papers.Settings) {
			s.Providers, s.Pace = []string{papers.ArXiv}, shared.NewPace(rdb)
		})
		d.SetEvery(papers.ArXiv, every)
		busy := make(chan struct{}, 1)
		d.answer = func(name string, w http.ResponseWriter, _ *http.Request) bool {
			select {
			case busy <- struct{}{}:
				defer func() { <-busy }()
			default:
				t.Error("two requests of one worker at a time")
			}
			mu.Lock()
			defer mu.Unlock()
			begun = append(begun, time.Now())
			if len(begun)%3 != 1 { // an empty page now and then
				return false
			}
			serve(t, w, name, "arxiv_empty.xml")
			return true
		}
		return d
	}
	var wg sync.WaitGroup
	for _, d := range []*desk{worker(), worker()} {
		for range 3 {
			wg.Go(func() {
				if a := d.Ask(t.Context(), papers.ParseQuery("tides", 5))[0]; a.Err != nil {
					t.Error(a.Err)
				}
			})
		}
	}
	wg.Wait()
	if len(begun) < 8 { // six searches, every third request finds an empty page
		t.Fatalf("%d requests", len(begun))
	}
	took := begun[len(begun)-1].Sub(begun[0])
	if least := time.Duration(len(begun)-2) * every; took < least { // of one pause less: the first request may have been late
		t.Errorf("%d requests within %s, want at least %s", len(begun), took, least)
	}
	t.Logf("%d requests in %s, every %s", len(begun), took.Round(time.Millisecond), every)
}

// TestRestOverWorkers: a refusal for hours stops all workers.
func TestRestOverWorkers(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	worker := func() *desk {
		return newDesk(t, func(s *papers.Settings) {
			s.Providers, s.Pace = []string{papers.OpenAlex}, shared.NewPace(rdb)
		})
	}
	a, b := worker(), worker()
	a.answer = func(_ string, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "18000")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	if answer := a.Ask(t.Context(), papers.ParseQuery("tides", 5))[0]; answer.Err == nil {
		t.Error("no error")
	}
	answer := b.Ask(t.Context(), papers.ParseQuery("tides", 5))[0]
	if answer.Err == nil || len(b.requests(papers.OpenAlex)) != 0 {
		t.Errorf("the other worker asked all the same: %v", answer.Err)
	}
	t.Log(answer.Err)
	if left := rdb.PTTL(t.Context(), "nightdesk:{pace:papers:openalex}").Val(); left < 4*time.Hour || left > 6*time.Hour {
		t.Errorf("left alone for %s", left)
	}
}
