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

// trial is one call on its way through as many tries as it takes, for chat and embeddings alike.
type trial struct {
	call  topicqueue.Call
	doing string // for errors
	most  int    // tries
	quick bool   // waits for nothing but its own pauses, and counts every refusal as a try: somebody looks on

	// send makes one try and says what it came to.
	send func(ctx context.Context) (outcome, *wire.Exchange, error)
	// late, when it is not nil, changes the question after a try that was too slow by itself.
	late func()
}

const (
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 20 * time.Second
)

const (
	maxLate    = 2 // tries that may run into their timeout: each costs minutes
	maxGarbled = 3 // a wrong base URL serves the same page for ever
)

// run tries until there is an answer, a refusal or no try left. What is no try: a refusal for being too many, which
// only means to come later; a server that is down, whose return the governor waits for; a question that is put in
// another form. So such a call ends with ctx.
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
			if verdict.Down && t.call.Waits(time.Now()) {
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
			return &unavailableError{t.doing, err, fmt.Sprintf(" (try %d of %d)", tries, t.most)}
		}
		if err := t.pause(ctx, err, ex, tries); err != nil {
			return err
		}
	}
}

// outage is what this process knows of an outage of a server. The governor knows it for all workers.
type outage struct{ last atomic.Pointer[error] } // that a call ended with; nil: the server is up

// tell logs that calls begin to wait for a server, and that they go on.
func (o *outage) tell(ctx context.Context, what outcome, verdict topicqueue.CallVerdict, err error) {
	switch {
	case what == answered && o.last.Swap(nil) != nil:
		zerolog.Ctx(ctx).Info().Msg("the model server answers again")
	case isOutage(what) && verdict.Down && o.last.Swap(&err) == nil:
		zerolog.Ctx(ctx).Warn().Err(err).Msg("model server is down or overloaded; calls wait until it answers")
	}
}

// isOutage reports whether a try may show that its server is down.
func isOutage(what outcome) bool { return what == busy || what == broken || what == late }

// why returns what is wrong with the server: what a call of this process has seen, else what the governor says.
func (o *outage) why(governor error) error {
	if last := o.last.Load(); last != nil {
		return *last
	}
	return fmt.Errorf("other calls found %w", governor)
}

// pause waits before the next try, after the n-th of its kind: as long as the server asks for, else longer each time. A
// patient call whose server asks for more time than there is asks again when half of what is left is over, for servers
// are often back sooner than they say. why: what the last try came to.
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
