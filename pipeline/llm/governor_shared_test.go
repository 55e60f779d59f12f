package llm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue/redisqueue/governor"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// TestWorkersShareAServer: four workers with many callers share a server that accepts eight concurrent calls, then
// four, with an outage in between. No call fails. Utilization is measured in redisqueue (TestGovernorUnderLoad).
func TestWorkersShareAServer(t *testing.T) {
	if !scaletest.Race { // many goroutines at a time
		scaletest.Slow(t)
	}
	t.Parallel()
	rdb := redistest.Server(t)
	var inside, most, answered, refused atomic.Int64
	var down atomic.Bool
	most.Store(8)
	url := llmtest.NewServer(t, &llmtest.Stub{Intercept: func(w http.ResponseWriter, _ llmtest.Question) bool {
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		defer inside.Add(-1)
		if inside.Add(1) > most.Load() {
			refused.Add(1)
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		time.Sleep(20*time.Millisecond + rand.N(60*time.Millisecond)) // the model thinks
		answered.Add(1)
		return false
	}})
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for worker := range 4 {
		g := governor.Start(t.Context(), rdb, 0)
		t.Cleanup(func() { g.Close() })
		base := &http.Transport{}
		t.Cleanup(base.CloseIdleConnections)
		c, err := llm.NewClient(llm.Settings{
			Roles:      map[llm.Role]llm.RoleSettings{llm.Researcher: {Model: "m", BaseURL: url, APIKey: testKey, Timeout: 20 * time.Second, MaxTries: 5}},
			HTTPClient: &http.Client{Transport: base}, Governor: g,
		})
		if err != nil {
			t.Fatal(err)
		}
		for caller := range 10 {
			wg.Go(func() {
				for ctx.Err() == nil {
					req := free()
					req.Position.RunID = fmt.Sprint("run", worker, caller)
					if _, err := c.Generate(t.Context(), req); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wait := func(n int64) { // for so many answers more
		for until := answered.Load() + n; answered.Load() < until && !t.Failed(); {
			time.Sleep(5 * time.Millisecond) // there is no event to wait for
		}
	}
	wait(200)
	most.Store(4)
	wait(100)
	down.Store(true)
	for {
		stats, err := governor.Stats(t.Context(), rdb)
		if err != nil {
			t.Fatal(err)
		}
		if len(stats) == 1 && !stats[0].Down.IsZero() {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	down.Store(false)
	wait(100)
	stop()
	wg.Wait()
	t.Logf("%d answered, %d refused", answered.Load(), refused.Load())
}
