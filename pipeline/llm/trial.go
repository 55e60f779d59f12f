package llm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/retry"
)

// trial is one call on its way through as many tries as it takes, for chat and embeddings alike.
type trial struct {
	call  topicqueue.Call
	doing string // for errors
	most  int    // tries
	quick bool   // waits for nothing but its own pauses, and counts every refusal as a try: somebody looks on

	// send makes one try and says what it came to.
	send func(ctx context.Context) (outcome, *exchange, error)
	// late, when it is not nil, changes the question after a try that was too slow by itself.
	late func()
}

const (
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 20 * time.Second
	longestRest  = 7 * 24 * time.Hour // that a server may ask for
)

const (
	maxLate    = 2 // tries that may run into their timeout: each costs minutes
	maxGarbled = 3 // a wrong base URL serves the same page for ever
)

// run tries until there is an answer, a refusal or no try left. What is no try: a refusal for being too many, which only
// means to come later; a server that is down, whose return the governor waits for; a question that is put in another
// form. So such a call ends with ctx.
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
			return fmt.Errorf("%s: other calls found %w: %w", t.doing, err, ErrUnavailable)
		case err != nil:
			return fmt.Errorf("%s: %w: %w", t.doing, err, ErrUnavailable)
		}
		what, ex, err := t.send(ctx)
		if ctx.Err() != nil { // also when an answer came: langchaingo may have swallowed the end
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
			if verdict.Down && t.call.Patient {
				continue
			}
		case late:
			err = fmt.Errorf("%w: %w", err, ErrAnswer) // the step's fallback can do without it
			if !verdict.Queued {                       // else it comes in time when it is asked among fewer
				nLate++
				if t.late != nil {
					t.late()
				}
			}
		case garbled:
			nGarbled++
		}
		if tries++; tries >= t.most || nLate == maxLate || nGarbled == maxGarbled {
			return fmt.Errorf("%s: %w (try %d of %d): %w", t.doing, err, tries, t.most, ErrUnavailable)
		}
		if err := t.pause(ctx, err, ex, tries); err != nil {
			return err
		}
	}
}

// outage is what the log has been told of a server. The governor keeps the truth, for all workers.
type outage struct{ told atomic.Bool }

// tell logs that calls begin to wait for a server, and that they go on.
func (o *outage) tell(ctx context.Context, what outcome, verdict topicqueue.CallVerdict, err error) {
	switch {
	case what == answered && o.told.CompareAndSwap(true, false):
		zerolog.Ctx(ctx).Info().Msg("the model server answers again")
	case what == broken && verdict.Down && o.told.CompareAndSwap(false, true):
		zerolog.Ctx(ctx).Warn().Err(err).Msg("the model server is down: calls wait until it answers again")
	}
}

// pause waits before the next try, after the n-th of its kind: as long as the server asks for, else longer each time. why:
// what the last one came to.
func (t trial) pause(ctx context.Context, why error, ex *exchange, n int) error {
	wait := retry.Backoff(n, firstBackoff, maxBackoff)
	if ex.retryAfter > 0 {
		wait = ex.retryAfter
	}
	if !retry.Fits(ctx, wait) {
		return fmt.Errorf("%s: %w (the next try in %s would be too late): %w", t.doing, why, wait.Round(time.Millisecond), ErrUnavailable)
	}
	if retry.Sleep(ctx, wait) != nil {
		return ended(ctx, t.doing)
	}
	return nil
}
