package llm

import (
	"context"
	"fmt"
	"time"
)

// trial counts the tries of one call and decides whether there is another one.
type trial struct {
	doing         string // for errors
	most          int    // tries
	try           int    // from 1
	late, garbled int
}

// next waits for the next try after an outcome that another one may change. An error ends the call; found is then what
// the call has found out about the server.
func (t *trial) next(ctx context.Context, r *role, what outcome, ex *exchange, err error) (found finding, _ error) {
	found = foundUp
	switch what {
	case broken:
		found = foundDown
	case late:
		found = foundLate
		t.late++
	case garbled:
		t.garbled++
	}
	fail := func(why string) error {
		return fmt.Errorf("%s: %w (%s): %w", t.doing, err, why, ErrUnavailable)
	}
	wait := backoff(t.try)
	if ex.retryAfter > 0 {
		wait = ex.retryAfter
	}
	switch {
	case t.try >= t.most || t.late == maxLate || t.garbled == maxGarbled:
		return found, fail(fmt.Sprintf("try %d of %d", t.try, t.most))
	case r.outage.down():
		return found, fail("other calls found it down")
	case beyond(ctx, wait):
		return foundNothing, fail(fmt.Sprintf("the next try in %s would be too late", wait.Round(time.Millisecond))) // it had less than its tries
	case !sleep(ctx, wait):
		return foundNothing, ended(ctx, t.doing)
	}
	t.try++
	return found, nil
}
