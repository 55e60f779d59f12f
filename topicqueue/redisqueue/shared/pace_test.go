package shared_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/redisqueue/shared"
)

// TestPace: two workers share one rate.
func TestPace(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		const every = 60 * time.Millisecond
		var mu sync.Mutex
		var turns []time.Time
		var wg sync.WaitGroup
		for _, worker := range []*shared.Pace{shared.NewPace(rdb), shared.NewPace(rdb)} {
			for range 3 {
				wg.Go(func() {
					if err := worker.Wait(t.Context(), "host:a.example", every); err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					turns = append(turns, time.Now())
				})
			}
		}
		wg.Wait()
		slices.SortFunc(turns, time.Time.Compare)
		if took := turns[5].Sub(turns[0]); took < 4*every { // of five pauses: the first may have been late
			t.Errorf("six turns within %s", took)
		}
		pace := shared.NewPace(rdb)
		if err := pace.Wait(t.Context(), "papers:tired", time.Hour); err != nil {
			t.Error(err)
		}
		if n := rdb.Exists(t.Context(), "nightdesk:{pace:papers:tired}").Val(); n != 1 {
			t.Errorf("%d keys", n)
		}
		for key, want := range map[string]time.Duration{"papers:tired": time.Hour, "papers:fresh": 0} {
			if left, err := pace.Left(t.Context(), key); err != nil || left > want || left < want-time.Minute {
				t.Errorf("%s: %s is left, %v", key, left, err)
			}
		}
	})
}

func TestPaceThatComesTooLate(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		pace := shared.NewPace(rdb)
		if err := pace.Wait(t.Context(), "arxiv", time.Hour); err != nil {
			t.Fatal(err)
		}
		next := rdb.Get(t.Context(), "nightdesk:{pace:arxiv}").Val()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := pace.Wait(ctx, "arxiv", time.Hour); !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			t.Errorf("got %v", err)
		}
		if now := rdb.Get(t.Context(), "nightdesk:{pace:arxiv}").Val(); now != next {
			t.Errorf("the turn was used up: %s, was %s", now, next)
		}
		if err := pace.Wait(ctx, "crossref", time.Second); err != nil {
			t.Errorf("another key: %v", err)
		}
		why := errors.New("the desk closes")
		ctx, stop := context.WithCancelCause(t.Context())
		stop(why)
		if err := pace.Wait(ctx, "crossref", time.Second); !errors.Is(err, why) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

// TestPaceThatIsSlowed: a refusing server gets half as many requests from all workers.
func TestPaceThatIsSlowed(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		const every = 4 * time.Second
		if err := shared.NewPace(rdb).Slow(t.Context(), "search:tired", every); err != nil {
			t.Fatal(err)
		}
		pace := shared.NewPace(rdb)
		for key, want := range map[string]time.Duration{"search:tired": 2 * every, "search:fresh": every} {
			if err := pace.Wait(t.Context(), key, every); err != nil {
				t.Fatal(err)
			}
			if left, err := pace.Left(t.Context(), key); err != nil || left > want || left <= want-every {
				t.Errorf("%s: the next turn is in %s, %v", key, left, err)
			}
		}
		if left := rdb.PTTL(t.Context(), "nightdesk:{pace:search:tired}:slow").Val(); left <= 0 || left > 10*time.Minute {
			t.Errorf("it is remembered for %s", left)
		}
	})
}
