package llm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/llm/wire"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/retry"
)

// trial is one call with all its tries, for chat, embeddings and speech.
type trial struct {
	call  topicqueue.Call
	doing string // operation name for errors
	most  int    // maximum number of tries
	quick bool   // waits only for its own pauses, and counts every refusal as a try, because a person is waiting

	// send makes one try and returns its outcome.
	send func(ctx context.Context) (outcome, *wire.Exchange, error)
	// late, if not nil, changes the question after a try that timed out by itself.
	late func()
}

const (
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 20 * time.Second
)

const (
	maxLate    = 2 // maximum number of timeouts, which cost minutes each
	maxGarbled = 3 // a wrong base URL always returns the same page
)

// run makes tries until there is an answer, a refusal, or no try left. Rate limits, outages for which the governor
// waits, and changes of the request's form do not count as tries. A call with only these ends with ctx.
func (t trial) run(ctx context.Context, r *role) error {
	if ctx.Err() != nil {
		return ended(ctx, t.doing)
	}
	governor := r.governor
	if t.quick {
		governor = ungoverned{}
	}
	t.call.ID, t.call.Server, t.call.Host, t.call.Limits = rand.Text(), r.account, r.host, r.limits
	tries, throttled, nLate, nGarbled := 0, 0, 0, 0
	for {
		permit, err := governor.Acquire(ctx, t.call)
		switch {
		case ctx.Err() != nil:
			return ended(ctx, t.doing)
		case errors.Is(err, topicqueue.ErrServerDown):
			return &unavailableError{t.doing, r.outage.why(err), ""}
		case err != nil:
			return &unavailableError{t.doing, err, ""}
		}
		what, ex, err := t.send(ctx)
		if ctx.Err() != nil { // also if an answer arrived, because langchaingo may have swallowed the end of ctx
			what = interrupted
		}
		verdict := governor.Release(ctx, permit, callEnd(what, ex, err))
		r.outage.tell(ctx, what, verdict, err)
		if ctx.Err() != nil {
			return ended(ctx, t.doing)
		}
		switch what {
		case answered:
			return nil
		case refused:
			return r.permanent(t.doing, err)
		case reshaped:
			continue
		case busy:
			if throttled++; !t.quick {
				if err := t.pause(ctx, err, ex, throttled); err != nil {
					return err
				}
				continue
			}
		case broken:
			if verdict.Down && t.call.Waits(time.Now()) {
				continue
			}
		case late:
			err = fmt.Errorf("%w: %w", err, ErrAnswer) // the step has a fallback
			if !verdict.Queued {                       // otherwise it may be in time with fewer concurrent calls
				nLate++
				if t.late != nil {
					t.late()
				}
			}
		case garbled:
			nGarbled++
		}
		if tries++; tries >= t.most || nLate == maxLate || nGarbled == maxGarbled {
			return &unavailableError{t.doing, err, fmt.Sprintf(" (try %d of %d)", tries, t.most)}
		}
		if err := t.pause(ctx, err, ex, tries); err != nil {
			return err
		}
	}
}

// outage is this process's knowledge of a server outage. The governor knows it for all workers.
type outage struct{ last atomic.Pointer[error] } // last error of an outage; nil: the server is up

// tell logs when calls begin to wait for a server, and when they continue.
func (o *outage) tell(ctx context.Context, what outcome, verdict topicqueue.CallVerdict, err error) {
	switch {
	case what == answered && o.last.Swap(nil) != nil:
		zerolog.Ctx(ctx).Info().Msg("model server is available again")
	case isOutage(what) && verdict.Down && o.last.Swap(&err) == nil:
		zerolog.Ctx(ctx).Warn().Err(err).Msg("model server is down or overloaded; calls wait until it is available")
	}
}

// isOutage reports whether the outcome of a try may indicate that its server is down.
func isOutage(what outcome) bool { return what == busy || what == broken || what == late }

// why returns the fault of the server: the last error seen by this process, otherwise the governor's error.
func (o *outage) why(governor error) error {
	if last := o.last.Load(); last != nil {
		return *last
	}
	return fmt.Errorf("other calls found %w", governor)
}

// pause waits before the next try, after the n-th of its kind: as long as the server asks for, otherwise longer each
// time. If the server asks a patient call to wait longer than its remaining time, the call retries after half of that
// time, because servers often recover earlier. why is the error of the last try.
func (t trial) pause(ctx context.Context, why error, ex *wire.Exchange, n int) error {
	wait := retry.Backoff(n, firstBackoff, maxBackoff)
	if ex.RetryAfter > 0 {
		wait = ex.RetryAfter
	}
	if !retry.Fits(ctx, wait) {
		left := t.left(ctx)
		if ex.RetryAfter == 0 || !t.call.Patient || t.quick || left < firstBackoff {
			wait = wait.Round(time.Millisecond)
			return &unavailableError{t.doing, why, fmt.Sprintf(" (the next try in %s would be too late)", wait)}
		}
		wait = left / 2
	}
	if retry.Sleep(ctx, wait) != nil {
		return ended(ctx, t.doing)
	}
	return nil
}

// left returns how long the call may still wait for its server. ctx has a deadline.
func (t trial) left(ctx context.Context) time.Duration {
	end, _ := ctx.Deadline()
	if until := t.call.Until; !until.IsZero() && until.Before(end) {
		end = until
	}
	return time.Until(end)
}
