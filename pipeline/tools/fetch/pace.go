package fetch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"nightdesk/topicqueue/retry"
)

// maxPaced bounds the keys that are remembered; beyond it those whose time is over are forgotten.
const maxPaced = 1000

// localPace is the Pace of one process.
type localPace struct {
	mu   sync.Mutex
	next map[string]time.Time // when the next turn under a key may be
}

// NewLocalPace returns the rates of this process alone.
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
