package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/retry"
)

// Viewer shows one run.
type Viewer interface {
	Noter
	// Show receives new events and the current run. It is called about once a second, even without events.
	Show(ctx context.Context, run topicqueue.Run, events []topicqueue.Event) error
	// Along reports whether the viewer also shows model output while it is being written.
	Along() bool
}

// Noter shows messages that are not events, such as that Redis is unavailable.
type Noter interface {
	Note(format string, args ...any)
}

const (
	// outageTime is how long `run`, which has nothing else to do, waits while Redis or storage is unusable.
	outageTime = 15 * time.Second
	newsPause  = 100 * time.Millisecond // between polls for events
	lookPause  = 500 * time.Millisecond // between reads of a run without events
	alongPause = 3 * time.Second        // between marks that someone is reading along
	lookTime   = 3 * time.Second        // timeout of one poll; a slower Redis counts as unavailable
	outageLook = 200 * time.Millisecond // between polls while Redis is unavailable
)

// Follow shows a run's events after number seq until the run has ended and its files are in storage, and returns it.
//
// usable checks whether the run can continue in this process. Its error ends Follow after outageTime of failures. If
// usable is nil, other processes work on the run: Follow waits out an outage of any length, and also returns when the
// files cannot be stored.
func Follow(ctx context.Context, d *desk.Desk, runID string, seq int64,
	usable func(context.Context) error, v Viewer) (run topicqueue.Run, err error) {
	l := looker{Desk: d, runID: runID, usable: usable, along: v.Along()}
	o := outage{Noter: v, since: time.Now()}
	if usable != nil {
		o.patience = outageTime
	}
	ended := false // all events were shown
	for looked := (time.Time{}); ; {
		n, err := l.look(ctx, seq, ended || time.Since(looked) >= lookPause)
		switch {
		case ctx.Err() != nil:
			return run, context.Cause(ctx)
		case errors.Is(err, redisqueue.ErrNotFound) && ended: // its state has expired meanwhile
			return run, nil
		case errors.Is(err, redisqueue.ErrNotFound):
			return run, err
		case err == nil && n.looked:
			looked, run = time.Now(), n.run
			if err := v.Show(ctx, run, slices.Concat(n.deltas, n.events)); err != nil {
				return run, err
			}
		}
		for _, e := range n.events {
			seq = e.Seq
			ended = ended || e.Status == topicqueue.StatusComplete
		}
		// A run that has ended adds no events, even if its stream was trimmed.
		if err == nil && n.looked && len(n.events) == 0 {
			ended = ended || !run.EndedAt.IsZero()
		}
		switch {
		case err != nil, !ended, !n.looked:
		case !run.PublishedAt.IsZero(), run.Unpublished != "" && usable == nil:
			return run, nil
		case run.EndedAt.IsZero() && usable == nil:
			return run, fmt.Errorf("run %s is still running: it is being retried", run.ID)
		case run.Unpublished != "":
			err = fmt.Errorf("run %s is %s, but its report cannot be stored: %s", run.ID, run.State, run.Unpublished)
		}
		if err != nil {
			if err := o.on(ctx, err); err != nil {
				return run, err
			}
			continue
		}
		o.off()
		if len(n.events) == 0 {
			_ = retry.Sleep(ctx, newsPause)
		}
	}
}

// news is the result of one poll of a run.
type news struct {
	events []topicqueue.Event // may include a gap
	deltas []topicqueue.Event
	looked bool // run was read
	run    topicqueue.Run
}

// looker polls one run.
type looker struct {
	*desk.Desk
	runID  string
	usable func(context.Context) error // see Follow
	along  bool                        // read model output too
	marked time.Time                   // time of the last mark that someone is reading along
	after  string                      // id of the last delta read
}

// deltas reads what models are writing. It ignores errors, because nothing depends on the deltas.
func (l *looker) deltas(ctx context.Context) (out []topicqueue.Event) {
	if !l.along {
		return nil
	}
	if time.Since(l.marked) > alongPause && l.Queue.ReadAlong(ctx, l.runID) == nil {
		l.marked = time.Now()
	}
	out, l.after, _ = l.Queue.Deltas(ctx, l.runID, l.after)
	return out
}

// look reads the next events of a run. If there are any, or if ask is set, it then reads the run too. It polls rather
// than blocking in Redis, because a blocked client is slow to notice an outage or an interrupt.
func (l *looker) look(ctx context.Context, seq int64, ask bool) (n news, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	n.deltas = l.deltas(ctx)
	n.events, err = l.Events(ctx, l.runID, seq)
	n.looked = ask || len(n.events)+len(n.deltas) > 0
	if err != nil || !n.looked {
		return n, err
	}
	if l.usable != nil && len(n.events) == 0 {
		if err := l.usable(ctx); err != nil {
			return n, err
		}
	}
	n.run, err = l.Queue.Run(ctx, l.runID)
	return n, err
}

// outage tracks an outage of Redis and tells the viewer about it.
type outage struct {
	Noter
	since    time.Time // Redis was last reachable
	patience time.Duration
	told     bool
}

// on handles an error and sleeps briefly before the next try. It returns an error when patience has run out.
func (o *outage) on(ctx context.Context, err error) error {
	away := time.Since(o.since)
	if o.patience > 0 && away > o.patience {
		return view.Hint(fmt.Errorf("the run cannot go on: %w", err),
			"Restore Redis and the storage, then run the command again.")
	}
	if !o.told && away > 2*time.Second {
		o.told = true
		o.Note("waiting for recovery: %v", err)
	}
	_ = retry.Sleep(ctx, outageLook)
	return nil
}

func (o *outage) off() {
	if o.told {
		o.Note("it works again, after %s", view.Duration(time.Since(o.since)))
	}
	o.told, o.since = false, time.Now()
}
