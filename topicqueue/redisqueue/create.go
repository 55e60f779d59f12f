package redisqueue

import (
	"context"
	"fmt"
	"strconv"

	"nightdesk/topicqueue"
)

// controls are a person's commands to a run, without a lease.
type controls struct {
	base
	read    *reader
	batches *batches
	budgets *budgets
}

// Create stores a run in state queued, where it waits until Feed chooses it. If a run with this id exists, Create
// leaves it unchanged and returns created = false.
func (q *controls) Create(ctx context.Context, run topicqueue.Run) (created bool, err error) {
	var e encoder
	options, labels := e.json(run.Options), ""
	if run.Ref != "" || len(run.Tags) > 0 {
		labels = e.json(run.Labels)
	}
	if e.err != nil {
		return false, fmt.Errorf("encode run %s: %w", run.ID, e.err)
	}
	// The batch entry comes first: readers skip an entry without a run, but a run without an entry would be lost.
	// Runs are listed in the order of enqueueing.
	order := float64(run.CreatedAt.UnixNano() / 1000)
	if added, err := q.batches.addToBatch(ctx, run.Batch, run.ID, order); err != nil || !added {
		return false, err // nil error: it was published before; its state may have expired
	}
	if err := q.budgets.join(ctx, run); err != nil {
		return false, err
	}
	// This check takes place only if the rest of Create is interrupted, so that 100,000 waiting runs are not swept in
	// vain.
	if err := q.note(ctx, run.ID, note{check: ms(sweepTime), soonest: true, wait: "="}); err != nil {
		return false, err
	}
	deadline := int64(0)
	if !run.Options.Deadline.IsZero() {
		deadline = run.Options.Deadline.UnixMilli()
	}
	o := run.Options
	r, err := q.run(ctx, createScript, "create", run.ID,
		run.ID, run.Batch, run.Topic, options, run.Lane, max(1, o.MaxParallel), o.Duration.Milliseconds(),
		o.WritingTime.Milliseconds(), deadline, o.Audio != topicqueue.AudioNone, o.Budget.Amount(), firstLimit(o), labels)
	if err != nil || r.status != "ok" {
		return false, err
	}
	check := "inf"
	if deadline > 0 {
		check = "=" + strconv.FormatInt(deadline, 10) // by Redis's clock, whatever this machine's clock says
	}
	return true, q.note(ctx, run.ID, note{lane: run.Lane, state: topicqueue.RunQueued, check: check,
		wait: turn(run.CreatedAt.UnixMilli(), deadline)})
}

// firstLimit returns the spending limit of a run before it has a share of a common budget.
func firstLimit(o topicqueue.Options) int64 {
	if o.Common() {
		return 1
	}
	return o.Budget.Amount()
}
