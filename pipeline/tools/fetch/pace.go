package fetch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"nightdesk/topicqueue/retry"
)

// maxPaced is the number of remembered keys at which expired keys are deleted.
const maxPaced = 1000

// localPace is a Pace for one process.
type localPace struct {
	mu   sync.Mutex
	next map[string]time.Time // time of the next turn, by key
}

// NewLocalPace returns a Pace that is limited to this process.
func NewLocalPace() Pace { return &localPace{} }

// Wait implements Pace.
func (p *localPace) Wait(ctx context.Context, key string, every time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.mu.Lock()
	now := time.Now()
	turn := p.next[key]
	if turn.Before(now) {
		turn = now
	}
	if deadline, ok := ctx.Deadline(); ok && turn.After(deadline) {
		p.mu.Unlock()
		return fmt.Errorf("the next turn is in %s: %w", turn.Sub(now).Round(time.Millisecond), context.DeadlineExceeded)
	}
	if p.next == nil {
		p.next = map[string]time.Time{}
	}
	if len(p.next) >= maxPaced {
		for k, t := range p.next {
			if t.Before(now) {
				delete(p.next, k)
			}
		}
	}
	p.next[key] = turn.Add(every)
	p.mu.Unlock()
	return retry.Sleep(ctx, turn.Sub(now))
}
