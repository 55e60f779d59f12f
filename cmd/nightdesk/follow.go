package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/retry"
)

// viewer shows one run.
type viewer interface {
	noter
	// show takes new events and the run as it is now. It is called about once a second, also without events.
	show(ctx context.Context, run topicqueue.Run, events []topicqueue.Event) error
}

// noter says something that is no event, such as that Redis is away.
type noter interface {
	note(format string, args ...any)
}

const (
	// outageTime is how long `run`, which has nothing else to do, waits for a Redis that cannot be used.
	outageTime = 15 * time.Second
	newsPause  = 100 * time.Millisecond // between two looks for events
	lookPause  = 500 * time.Millisecond // between two looks at a run without events
	lookTime   = 3 * time.Second        // for one look; Redis that takes longer is away
	outageLook = 200 * time.Millisecond // between two looks for a Redis that is away
)

// follow shows a run's events after number seq until its stream has ended, and returns the run as it is then.
//
// patience: how long Redis may be away or take no writes, after which that is an error: nothing would ever come. Zero:
// for ever, and writes do not matter.
func (a *app) follow(ctx context.Context, q *redisqueue.Queue, runID string, seq int64, patience time.Duration, v viewer) (topicqueue.Run, error) {
	o := outage{noter: v, since: time.Now(), patience: patience}
	for looked := (time.Time{}); ; {
		n, err := look(ctx, q, runID, seq, time.Since(looked) >= lookPause, patience > 0)
		if ctx.Err() != nil {
			return n.run, context.Cause(ctx)
		}
		if errors.Is(err, redisqueue.ErrNotFound) {
			return n.run, err
		}
		if err != nil {
			if err := o.on(ctx, err); err != nil {
				return n.run, err
			}
			continue
		}
		o.off()
		if n.looked {
			looked = time.Now()
			if err := v.show(ctx, n.run, n.events); err != nil {
				return n.run, err
			}
		}
		// A run that has ended adds nothing, whatever its stream has kept.
		ended := n.looked && !n.run.EndedAt.IsZero() && len(n.events) == 0
		for _, e := range n.events {
			seq = e.Seq
			ended = ended || e.Status == topicqueue.StatusComplete
		}
		if ended {
			return n.run, nil
		}
		if len(n.events) == 0 {
			_ = retry.Sleep(ctx, newsPause)
		}
	}
}

// news is what one look at a run has found.
type news struct {
	events []topicqueue.Event // a gap is one of them
	looked bool               // the run was read too
	run    topicqueue.Run
}

// look reads the next events of a run, and with events or when asked the run as it is after them. It does not wait for
// events in Redis: a client that waits there notices late that Redis is away, or that the user has had enough.
func look(ctx context.Context, q *redisqueue.Queue, runID string, seq int64, ask, writable bool) (n news, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	n.events, err = q.Events(ctx, runID, seq, 0)
	var gap *topicqueue.Gap
	if errors.As(err, &gap) {
		n.events, err = []topicqueue.Event{gap.Event(time.Now().UTC())}, nil
	}
	n.looked = ask || len(n.events) > 0
	if err != nil || !n.looked {
		return n, err
	}
	if writable && len(n.events) == 0 {
		if err := q.Writable(ctx); err != nil {
			return n, err
		}
	}
	n.run, err = q.Run(ctx, runID)
	return n, err
}

// outage is what a viewer is told of a Redis that is away.
type outage struct {
	noter
	since    time.Time // Redis was seen
	patience time.Duration
	told     bool
}

// on takes an error of Redis, and waits a moment before the next try. Its error says that patience is at its end.
func (o *outage) on(ctx context.Context, err error) error {
	away := time.Since(o.since)
	if o.patience > 0 && away > o.patience {
		return hintError{fmt.Errorf("the queue cannot be used: %w", err),
			"What was found so far is kept. Bring Redis back, or make room on its disk, and start again."}
	}
	if !o.told && away > 2*time.Second {
		o.told = true
		o.note("Redis is away (%v); waiting for it", err)
	}
	_ = retry.Sleep(ctx, outageLook)
	return nil
}

func (o *outage) off() {
	if o.told {
		o.note("Redis is back after %s", short(time.Since(o.since)))
	}
	o.told, o.since = false, time.Now()
}
