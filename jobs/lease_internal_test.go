package jobs

import (
	"context"
	"errors"
	"testing"
	"time"

	"nightdesk/topicqueue/redisqueue"
)

// TestLostLeases: an attempt whose lease is lost stops; one that gives it up does not, for it may have done so in a call
// whose reply was lost, and has tasks to enqueue.
func TestLostLeases(t *testing.T) {
	t.Parallel()
	l := newLeases(time.Minute)
	begin := func(unit string) (*attempt, context.Context) {
		ctx, cancel := context.WithCancelCause(t.Context())
		a := &attempt{Begun: redisqueue.Begun{Lease: redisqueue.Lease{RunID: "run", Unit: unit, Generation: 1}}, gate: newGate(), cancel: cancel}
		l.add(a)
		return a, ctx
	}
	works, atWork := begin("block_1")
	ends, atEnd := begin("block_2")
	l.ending(ends)
	l.renewed([]redisqueue.Lease{works.Lease, ends.Lease}, redisqueue.Renewed{Lost: []string{"block_1", "block_2"}}, time.Now())
	if !errors.Is(context.Cause(atWork), redisqueue.ErrFenced) {
		t.Errorf("the attempt that works goes on: %v", context.Cause(atWork))
	}
	if atEnd.Err() != nil {
		t.Errorf("the attempt that ends was stopped: %v", context.Cause(atEnd))
	}
}
