package jobs

import (
	"context"
	"slices"
	"sync"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// figures are what the work of this desk has taken, and how much there is to do, as far as this worker has heard.
type figures struct {
	queue *redisqueue.Queue
	now   func() time.Time
	mu    sync.Mutex
	stats redisqueue.Stats
	slots int
	at    time.Time
}

// figuresAge is how old they may be.
const figuresAge = 5 * time.Second

// look returns the figures, and reads them again when they are too old. Without Redis the old ones do.
func (f *figures) look(ctx context.Context) (redisqueue.Stats, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if age := f.now().Sub(f.at); age >= 0 && age < figuresAge { // below 0: the clock was put right
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

// pace says how fast the desk is and how much it has to do by the deadline of the run; without one there is no hurry.
func (b *budget) pace(ctx context.Context) topicqueue.Pace {
	p := topicqueue.Pace{Left: -1}
	if b.a.Run.Options.Deadline.IsZero() {
		return p
	}
	stats, slots := b.figures.look(ctx)
	p.Left, p.Slots, p.Runs = b.a.leftUntilSeal(), slots, 0
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

// hasTime reports whether all runs of the desk are ready in time when each block gets iteration k.
func (b *budget) hasTime(ctx context.Context, k int) bool {
	if k == 1 || k <= b.pace(ctx).Depth(max(1, len(b.a.View.Blocks)), b.a.Run.Options.MaxIterations) {
		return true
	}
	b.cut(ctx, topicqueue.CutTime)
	return false
}
