package redisqueue_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/scaletest"
)

// life is a run without faults, in which every transition occurs once. TestEveryCrash interrupts it.
func life(w *world) []func() *call {
	begin := func(unit string) func() *call {
		return func() *call {
			return w.begin(redisqueue.Intent{RunID: w.run.ID, Unit: unit, Generation: w.ref.unit(unit).generation})
		}
	}
	act := func(how int) func() *call {
		return func() *call { return w.act(w.attempts[len(w.attempts)-1], how) }
	}
	cancel := func() *call {
		return w.returning("cancel", func(ctx context.Context) ([]redisqueue.Intent, error) {
			return w.queue.Cancel(ctx, w.run.ID, "a person did", false)
		}, func() ([]redisqueue.Intent, error) { return w.ref.cancel(false) })
	}
	pause := func() *call {
		return plain("pause", func(ctx context.Context) error { return w.queue.Pause(ctx, w.run.ID) }, func() error { return w.ref.pause() })
	}
	yield := func() *call {
		a := w.attempts[len(w.attempts)-1]
		return w.returning("yield", func(ctx context.Context) ([]redisqueue.Intent, error) { return w.queue.Yield(ctx, a.lease) },
			func() ([]redisqueue.Intent, error) { return w.ref.yield(a.ref) })
	}
	retry := func(what string) func() *call { return func() *call { return w.retry(what) } }
	const await, twoBlocks, end, none, publish = 6, 2, 1, 0, 0
	return []func() *call{
		w.create, begin("plan"), act(await), func() *call { return w.answer("yes", 0) }, begin("plan"), act(twoBlocks),
		begin("block_1"), act(none), act(end), pause, w.resume, begin("block_2"), yield, begin("block_2"), act(end), begin("review"), act(none),
		begin("report"), act(none), begin("narrate"), act(none), begin("publish"), act(publish),
		retry(redisqueue.RetryReport), begin("report"), pause, cancel, begin("publish"), act(publish),
		retry(redisqueue.RetryReport), begin("report"), act(none), begin("narrate"), pause, act(none), begin("publish"), act(publish),
		retry(redisqueue.RetryAll), cancel, begin("publish"), act(publish),
	}
}

// TestEveryCrash interrupts each call of a run before each of its commands, once by the death of its worker and once by
// a pause during which other workers check the run. A worker without knowledge of the run then completes it. By
// default, it interrupts every fourth call.
func TestEveryCrash(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ kind, first int }{"death": {faultCrash, 0}, "pause": {faultFreeze, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVirtual(t)
			each := scaletest.Of(4, 1)
			for n, more := tc.first%each, true; more; n += each {
				for at, hit := 0, true; more && hit; at++ {
					var err error
					if more, hit, err = v.interrupted(t.Context(), n, fault{kind: tc.kind, at: at}); err != nil {
						t.Fatalf("call %d, before its command %d: %v", n, at, err)
					}
				}
			}
		})
	}
}

// interrupted runs a life up to its n-th call. more: the call exists; hit: it has the command to interrupt.
func (v *virtual) interrupted(ctx context.Context, n int, f fault) (more, hit bool, err error) {
	v.server.FlushAll()
	now := time.Now().Round(time.Millisecond)
	v.server.SetTime(now)
	w := newWorld(v.rdb, redisqueue.DefaultTiming, now, [settingsBytes]byte{1 | 4 | 16})
	w.exact = true
	w.pass = func(d time.Duration) {
		now = now.Add(d)
		v.server.SetTime(now)
		v.server.FastForward(d)
	}
	w.settle = func(context.Context) error { w.ref.now = now.UnixMilli(); return nil }
	_ = w.settle(ctx)
	look := func() error { // until the index has come to rest
		w.pass(6 * time.Second)
		if err := w.settle(ctx); err != nil {
			return err
		}
		if err := w.lookAround(ctx, fault{}); err != nil {
			return err
		}
		return w.checkStream(ctx)
	}
	calls := life(w)
	if n >= len(calls) {
		return false, false, nil
	}
	for i, make := range calls[:n] {
		if err := w.perform(ctx, make(), fault{}); err != nil {
			return true, false, fmt.Errorf("%w\n%s", err, w.history())
		}
		err := w.checkStream(ctx)
		if i == n-1 && err == nil {
			err = look()
		}
		if err != nil {
			return true, false, fmt.Errorf("%w\n%s", err, w.history())
		}
	}
	c := calls[n]()
	if err := w.perform(ctx, c, f); err != nil {
		return true, false, fmt.Errorf("%w\n%s", err, w.history())
	}
	hit = c.fault.dead || len(w.frozen) > 0
	if len(w.frozen) > 0 {
		if err := look(); err != nil {
			return true, false, fmt.Errorf("%w\n%s", err, w.history())
		}
		if err := w.thaw(c); err != nil {
			return true, false, fmt.Errorf("%w\n%s", err, w.history())
		}
	}
	if w.ref.exists {
		if err := w.finishAll(ctx); err != nil {
			return true, hit, fmt.Errorf("%w\n%s\n%v", err, w.history(), w.ref)
		}
	}
	return true, hit, nil
}
