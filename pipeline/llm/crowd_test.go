package llm_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
)

// line is a server that answers so many at a time, each within its time, and lets the others queue.
type line struct {
	places chan struct{}
	each   time.Duration
	stub   llmtest.Stub

	now, most atomic.Int64 // requests that are here
}

func (l *line) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if n := l.now.Add(1); n > l.most.Load() {
		l.most.Store(n)
	}
	defer l.now.Add(-1)
	select {
	case l.places <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	defer func() { <-l.places }()
	select {
	case <-time.After(l.each):
	case <-r.Context().Done():
		return
	}
	l.stub.ServeHTTP(w, r)
}

// A server that works off a queue is asked by fewer at a time after the first answers came too late; then nobody's
// time runs out in the queue. One that keeps up is not held back.
func TestSlowServerIsAskedByFewer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		places      int
		late, later int64 // most requests at a time, at first and in the end
	}{
		"one at a time":  {1, 12, 3},
		"three at once":  {3, 12, 8},
		"as many as ask": {12, 12, 12},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &line{places: make(chan struct{}, tc.places), each: 4 * time.Second}
				c := inMemory(t, server, nil) // a try has 10 s
				ask := func() {
					var wg sync.WaitGroup
					for range 12 {
						wg.Go(func() {
							if _, err := c.Generate(t.Context(), free()); err != nil {
								t.Error(err)
							}
						})
					}
					wg.Wait()
				}
				ask()
				if got := server.most.Load(); got != tc.late {
					t.Errorf("first round: %d requests at a time", got)
				}
				server.most.Store(0)
				ask()
				if got := server.most.Load(); got > tc.later {
					t.Errorf("second round: %d requests at a time, want at most %d", got, tc.later)
				}
			})
		})
	}
}

// Waiting for a place ends with the context, and takes nobody's place away.
func TestWaitingForAPlaceCanBeCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &line{places: make(chan struct{}, 1), each: 4 * time.Second}
		c := inMemory(t, server, nil)
		var wg sync.WaitGroup
		for range 4 { // 4 x 4 s: two are late, and the server is known to be slow
			wg.Go(func() { _, _ = c.Generate(t.Context(), free()) })
		}
		wg.Wait()
		for i := range 20 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%5)*time.Second)
				defer cancel()
				_, _ = c.Generate(ctx, free())
			})
		}
		wg.Wait()
		if _, err := c.Generate(t.Context(), llm.Request{Role: llm.Researcher, Prompt: free().Prompt}); err != nil {
			t.Errorf("after all waiting calls were cancelled: %v", err)
		}
	})
}
