package redisqueue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// Lease is the right of one attempt to work on a unit of a run. It is a value, which its holder passes to every
// write.
type Lease struct {
	RunID      string
	Unit       string
	Generation int
	owner      string
}

// newOwner returns a random token for an attempt.
func newOwner() string { return rand.Text() }

// Begun is the starting point of an attempt.
type Begun struct {
	Lease      Lease
	Run        topicqueue.Run
	Block      topicqueue.Block       // for a block
	View       topicqueue.View        // for a block: view for its next iteration
	Memory     topicqueue.BlockMemory // for a block: from its last checkpoint
	Admissions []topicqueue.Admission // for a block: answers to its last checkpoint's proposals
	Traces     []topicqueue.ToolTrace // for a block: from earlier iterations
	Lapses     int                    // how often the unit's workers died without progress
	Epoch      int                    // of the run; raised by Retry

	Spent time.Duration // for a block: since its first attempt began
	Seal  time.Duration // time until the run takes no more research; negative: never
	Final time.Duration // time until the run is over; negative: never
}

// attempts has the operations of an attempt: it begins a unit, and every later call passes its lease. The package
// documentation lists which call ends which unit.
type attempts struct {
	base
	read    *reader
	batches *batches
}

// Begin takes the lease of a unit for one generation. It returns ErrStale if the run does not want this generation of
// the unit (any more), or is paused. It returns ErrHeld if another attempt holds the unit and was last heard of less
// than Timing.Lease ago. In both cases there is nothing to do.
func (q *attempts) Begin(ctx context.Context, runID, unit string, generation int) (Begun, error) {
	l := Lease{RunID: runID, Unit: unit, Generation: generation, owner: newOwner()}
	r, err := q.run(ctx, beginScript, "begin "+unit, runID, unit, generation, l.owner, q.timing.Lease.Milliseconds())
	if err != nil {
		return Begun{}, err
	}
	b := Begun{Lease: l, Lapses: lua.Number(r.values, 0), Epoch: lua.Number(r.values, 1), Seal: left(r.values, 2),
		Final: left(r.values, 3)}
	if b.Run, err = q.read.Run(ctx, runID); err != nil {
		return b, err
	}
	if unit == UnitPlan { // the run no longer waits
		check := q.watchTime()
		for _, left := range []time.Duration{b.Seal, b.Final} {
			if left >= 0 {
				check = min(check, left)
			}
		}
		return b, q.note(ctx, runID, note{lane: b.Run.Lane, state: topicqueue.RunPlanning, check: ms(check), soonest: true})
	}
	if topicqueue.BlockNumber(unit) == 0 {
		return b, nil
	}
	b.Spent = time.Duration(lua.Number(r.values, 5)) * time.Millisecond
	for i, into := range []any{&b.Memory, &b.Admissions} {
		if text := lua.Text(r.values, 6+i); text != "" {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				return b, fmt.Errorf("decode the last checkpoint of %s of run %s: %w", unit, runID, err)
			}
		}
	}
	if b.View, err = q.read.view(ctx, runID, unit, lua.Text(r.values, 4)); err != nil {
		return b, err
	}
	blocks, err := q.read.Blocks(ctx, runID)
	if err != nil {
		return b, err
	}
	if n := topicqueue.BlockNumber(unit); n <= len(blocks) {
		b.Block = blocks[n-1]
	}
	b.Block.Generation = generation
	b.Traces, err = q.read.Traces(ctx, runID, unit)
	return b, err
}

// left returns value i as a duration; negative: never.
func left(values []any, i int) time.Duration {
	return time.Duration(lua.Number(values, i)) * time.Millisecond
}

// Renewed is the result of renewing leases.
type Renewed struct {
	Lost   []string // units no longer held: another attempt has them, or the run has ended
	Paused bool     // the run is paused, so nothing new may begin
}

// Renew renews leases of one run.
func (q *attempts) Renew(ctx context.Context, runID string, leases []Lease) (Renewed, error) {
	args := []any{q.timing.Lease.Milliseconds()}
	for _, l := range leases {
		args = append(args, l.Unit, l.Generation, l.owner)
	}
	r, err := q.run(ctx, renewScript, "renew", runID, args...)
	if err != nil {
		return Renewed{}, err
	}
	out := Renewed{Paused: lua.Number(r.values, 1) == 1}
	units, _ := r.values[0].([]any)
	for i := range units {
		out.Lost = append(out.Lost, lua.Text(units, i))
	}
	return out, nil
}

// Yield gives up a unit to a new generation and returns the task for it. A worker that is asked to stop uses it. The
// unit of a paused run has no task until Resume.
func (q *attempts) Yield(ctx context.Context, l Lease) ([]Intent, error) {
	r, err := q.run(ctx, yieldScript, "yield "+l.Unit, l.RunID, l.Unit, l.Generation, l.owner)
	if err != nil {
		return nil, err
	}
	return r.intents(l.RunID), nil
}

// Release returns a lease after an error, so that the same generation can begin again without waiting for the lease
// to expire.
func (q *attempts) Release(ctx context.Context, l Lease) error {
	_, err := q.run(ctx, releaseScript, "release "+l.Unit, l.RunID, l.Unit, l.Generation, l.owner)
	return err
}
