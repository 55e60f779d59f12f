package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
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
	lookPause  = 500 * time.Millisecond // between two looks at a run without news
	outageLook = 200 * time.Millisecond // between two looks for a Redis that is away
)

// follow shows a run's events after number seq until its stream has ended, and returns the run as it is then.
//
// patience: how long Redis may be away or take no writes, after which that is an error: nothing would ever come. Zero:
// for ever, and writes do not matter.
func (a *app) follow(ctx context.Context, q *redisqueue.Queue, runID string, seq int64, patience time.Duration, v viewer) (topicqueue.Run, error) {
	o := outage{noter: v, since: time.Now(), patience: patience}
	for {
		events, run, err := news(ctx, q, runID, seq)
		if err == nil && patience > 0 && len(events) == 0 {
			err = q.Writable(ctx)
		}
		if ctx.Err() != nil {
			return run, context.Cause(ctx)
		}
		if errors.Is(err, redisqueue.ErrNotFound) {
			return run, err
		}
		if err != nil {
			if err := o.on(ctx, err); err != nil {
				return run, err
			}
			continue
		}
		o.off()
		if err := v.show(ctx, run, events); err != nil {
			return run, err
		}
		// A run that has ended adds nothing, whatever its stream has kept.
		ended := !run.EndedAt.IsZero() && len(events) == 0
		for _, e := range events {
			seq = e.Seq
			ended = ended || e.Status == topicqueue.StatusComplete
		}
		if ended {
			return run, nil
		}
	}
}

// news waits a moment for the next events of a run and reads the run after them. A gap is one of the events.
func news(ctx context.Context, q *redisqueue.Queue, runID string, seq int64) ([]topicqueue.Event, topicqueue.Run, error) {
	events, err := q.Events(ctx, runID, seq, lookPause)
	var gap *topicqueue.Gap
	if errors.As(err, &gap) {
		events, err = []topicqueue.Event{gap.Event(time.Now().UTC())}, nil
	}
	if err != nil {
		return nil, topicqueue.Run{}, err
	}
	run, err := q.Run(ctx, runID)
	return events, run, err
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
	select {
	case <-ctx.Done():
	case <-time.After(outageLook):
	}
	return nil
}

func (o *outage) off() {
	if o.told {
		o.note("Redis is back after %s", short(time.Since(o.since)))
	}
	o.told, o.since = false, time.Now()
}
