package desk

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"nightdesk/jobs/bundle"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Events returns the next events of a run after a number; none if there are no more yet. They come from the queue or,
// if the run has left it, from storage, which also has events that the queue no longer keeps. A gap that remains is one
// event, after whose number reading goes on.
func (d *Desk) Events(ctx context.Context, runID string, after int64) ([]topicqueue.Event, error) {
	if !d.HasQueue() {
		return d.storedEvents(ctx, runID, after, math.MaxInt64)
	}
	events, err := d.Queue.Events(ctx, runID, after, 0)
	var gap *topicqueue.Gap
	switch {
	case errors.Is(err, redisqueue.ErrNotFound):
		return d.storedEvents(ctx, runID, after, math.MaxInt64)
	case !errors.As(err, &gap):
		return events, err
	}
	// Without storage, or before the run has ended, the gap remains.
	kept, err := d.storedEvents(ctx, runID, after, gap.To)
	if n := gap.To - after; err == nil && n > 0 && int64(len(kept)) == n {
		return kept, nil
	}
	return []topicqueue.Event{gap.Event(time.Now().UTC())}, nil
}

// storedEvents returns the events of a run in storage with numbers greater than after, up to last.
func (d *Desk) storedEvents(ctx context.Context, runID string, after, last int64) ([]topicqueue.Event, error) {
	all, err := bundle.Lines[topicqueue.Event](ctx, d.Store, storage.CacheKey(runID, "events.jsonl"))
	if errors.Is(err, storage.ErrNotExist) {
		return nil, nil
	}
	return slices.DeleteFunc(all, func(e topicqueue.Event) bool { return e.Seq <= after || e.Seq > last }), err
}
