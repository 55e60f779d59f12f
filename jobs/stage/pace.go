package stage

import (
	"context"
	"slices"
	"sync"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// figures caches the past work of this installation and its current load, as known to this worker.
type figures struct {
	queue *redisqueue.Queue
	now   func() time.Time
	mu    sync.Mutex
	stats redisqueue.Stats
	slots int
	at    time.Time
}

// figuresAge is the maximum age of cached figures.
const figuresAge = 5 * time.Second

// look returns the figures and refreshes them when they are too old. If Redis is unavailable, it returns the old ones.
func (f *figures) look(ctx context.Context) (redisqueue.Stats, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if age := f.now().Sub(f.at); age >= 0 && age < figuresAge { // negative: the clock was set back
		return f.stats, f.slots
	}
	if stats, err := f.queue.Stats(ctx); err == nil {
		f.stats, f.at = stats, f.now()
	}
	if workers, err := f.queue.Workers(ctx); err == nil {
		f.slots = workers.Slots
	}
	return f.stats, f.slots
}

// pace returns the speed of this installation and its load until the run's deadline. Without a deadline, the time left
// is -1.
func (b *Budget) pace(ctx context.Context) topicqueue.Pace {
	p := topicqueue.Pace{Left: -1}
	if b.a.Run.Options.Deadline.IsZero() {
		return p
	}
	stats, slots := b.a.runner.figures.look(ctx)
	p.Left, p.Slots, p.Runs = b.a.LeftUntilSeal(), slots, 0
	for state, n := range stats.Runs {
		if !slices.Contains([]topicqueue.RunState{topicqueue.RunAwaitingInput, topicqueue.RunReporting,
			topicqueue.RunNarrating}, state) && !state.Final() {
			p.Runs += int(n)
		}
	}
	p.Runs = max(p.Runs, 1)
	if stats.Iterations > 0 {
		p.Iteration = stats.IterationTime / time.Duration(stats.Iterations)
	}
	return p
}

// hasTime reports whether all runs of this installation end in time when each block gets iteration k.
func (b *Budget) hasTime(ctx context.Context, k int) bool {
	if k == 1 || k <= b.pace(ctx).Depth(max(1, len(b.a.View.Blocks)), b.a.Run.Options.MaxIterations) {
		return true
	}
	b.Cut(ctx, topicqueue.CutTime)
	return false
}
