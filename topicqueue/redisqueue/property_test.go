package redisqueue_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/scaletest"
)

var (
	propertySteps = flag.Int("property.steps", scaletest.Of(1500, 4000), "steps of TestTransitions; 100000 take about two minutes")
	propertySeed  = flag.Uint64("property.seed", 0, "seed of TestTransitions; 0: a new one, which a failure prints")
)

// A history is the encoded life of one run: its settings, then its steps.
const (
	settingsBytes = 4
	stepBytes     = 3
)

// newWorld creates a run from the first bytes of a history.
func newWorld(rdb *redis.Client, timing redisqueue.Timing, start time.Time, s [settingsBytes]byte) *world {
	unit := timing.Lease
	run := newRun("rivers", int(s[0]%3)+1)
	run.CreatedAt = start
	run.Options.MaxLoops = int(s[0] / 4 % 3)
	if s[0]/16%2 == 1 {
		run.Options.Audio = topicqueue.AudioSingle
	}
	run.Options.QueueMaxLength = 8
	if s[1]%4 > 0 {
		run.Options.Duration = time.Duration(s[1]) * unit / 16 // to 16 leases
	}
	run.Options.WritingTime = time.Duration(s[2]%16) * unit / 8
	if s[3]%4 == 1 {
		run.Options.Deadline = start.Add(time.Duration(s[3]) * unit / 8).Round(time.Millisecond)
	}
	if s[2]%3 == 1 {
		run.Options.Budget = topicqueue.Budget{Tokens: 20 + int64(s[2])}
	}
	w := &world{rdb: rdb, queue: redisqueue.New(rdb, timing), run: run, timing: timing, ref: newReference(run, timing)}
	return w
}

// live executes a history, then lets one worker without faults complete the run.
func (w *world) live(ctx context.Context, steps []byte) error {
	defer func() {
		for len(w.frozen) > 0 { // nobody waits for ever
			_ = w.thaw(w.frozen[0])
		}
	}()
	if err := w.settle(ctx); err != nil {
		return err
	}
	if err := w.perform(ctx, w.create(), fault{}); err != nil {
		return err
	}
	for ; len(steps) >= stepBytes; steps = steps[stepBytes:] {
		if err := w.step(ctx, steps[0], int(steps[1]), steps[2]); err != nil {
			return err
		}
		if err := w.after(ctx); err != nil {
			return err
		}
	}
	w.say("-- from here on one worker works cleanly")
	for len(w.frozen) > 0 {
		if err := w.thaw(w.frozen[0]); err != nil {
			return err
		}
		if err := w.after(ctx); err != nil {
			return err
		}
	}
	return w.finishAll(ctx)
}

func (w *world) after(ctx context.Context) error {
	if err := w.settle(ctx); err != nil {
		return err
	}
	return w.check(ctx)
}

// step executes one step. what: its kind; how: its variant; wrong: its fault.
func (w *world) step(ctx context.Context, what byte, how int, wrong byte) error {
	f := fault{}
	switch wrong % 16 {
	case 0:
		f = fault{kind: faultCrash, at: int(wrong/16) % 4}
	case 1:
		f = fault{kind: faultLost, at: int(wrong/16) % 4}
	case 2:
		f = fault{kind: faultTwice, at: int(wrong/16) % 4}
	case 3:
		if len(w.frozen) < 3 {
			f = fault{kind: faultFreeze, at: int(wrong/16) % 4}
		}
	}
	a := w.choose(how)
	q, r := w.queue, w.ref
	var c *call
	what %= 64
	switch { // where nothing else goes on, what does is tried more often
	case what < 26 && r.paused && how%3 == 0:
		what = 47
	case what < 26 && r.published && how%3 == 0, what < 26 && r.ended > 0 && how%8 == 0:
		what = 52
	case what < 26 && r.state == topicqueue.RunAwaitingInput && how%3 == 0:
		what = 50
	case what < 12 && len(w.tasks) == 0:
		what = 42
	}
	switch what {
	case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11:
		if task, ok := w.deliver(how); ok {
			c = w.begin(task)
		}
	case 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25:
		if a != nil {
			c = w.act(a, int(wrong)+how)
		}
	case 26, 27:
		if a != nil && a.again != nil {
			c = a.again()
		}
	case 28:
		if a != nil {
			c = w.returning(fmt.Sprintf("yield of %s by %d", a.ref.unit, a.ref.owner),
				func(ctx context.Context) ([]redisqueue.Intent, error) { return q.Yield(ctx, a.lease) },
				func() ([]redisqueue.Intent, error) { return r.yield(a.ref) })
		}
	case 29:
		if a != nil {
			c = plain(fmt.Sprintf("release of %s by %d", a.ref.unit, a.ref.owner),
				func(ctx context.Context) error { return q.Release(ctx, a.lease) }, func() error { return r.releaseLease(a.ref) })
		}
	case 30, 31:
		if n := len(w.attempts); n > 0 {
			c = w.renew(slices.Clone(w.attempts[max(0, n-1-how%4):]))
		}
	case 32, 33:
		if a != nil {
			c = w.pay(a, how)
		}
	case 34:
		if a != nil && a.ref.unit != redisqueue.UnitPublish {
			c = w.write(a, []string{"1/decide", "1/note/1", "2/decide"}[how%3])
		}
	case 35:
		if a != nil {
			c = plain(fmt.Sprintf("event of %s by %d", a.ref.unit, a.ref.owner), func(ctx context.Context) error {
				return q.Emit(ctx, a.lease, topicqueue.StepEvent(topicqueue.StepStartAuthor, ""), topicqueue.NewEvent("", topicqueue.StatusThought, topicqueue.Thought{}))
			}, func() error { return r.emit(a.ref) })
		}
	case 36, 37, 38, 39:
		c = w.sweep(true)
	case 40, 41:
		c = w.sweep(false)
	case 42, 43:
		return w.lookAround(ctx, f)
	case 44, 45:
		if n := len(w.tasks); n > 0 {
			task, active := w.tasks[how%n], how%2 == 0
			c = w.returning(fmt.Sprintf("advance %s/%d, active %v", task.Unit, task.Generation, active),
				func(ctx context.Context) ([]redisqueue.Intent, error) { return q.Advance(ctx, task, active) },
				func() ([]redisqueue.Intent, error) { return r.advance(task.Unit, task.Generation, active), nil })
		}
	case 46:
		c = plain("pause", func(ctx context.Context) error { return q.Pause(ctx, w.run.ID) }, func() error { return r.pause() })
	case 47, 48:
		c = w.resume()
	case 49:
		if how < 96 {
			c = w.returning(fmt.Sprintf("cancel, report %v", how%2 == 0),
				func(ctx context.Context) ([]redisqueue.Intent, error) {
					return q.Cancel(ctx, w.run.ID, "a person did", how%2 == 0)
				},
				func() ([]redisqueue.Intent, error) { return r.cancel(how%2 == 0) })
		}
	case 50, 51:
		if r.state != topicqueue.RunAwaitingInput && how%4 > 0 {
			break
		}
		c = w.answer(fmt.Sprintf("answer %d", how%2), how%3/2)
	case 52, 53:
		if r.ended == 0 && how%4 > 0 {
			break
		}
		c = w.retry([]string{redisqueue.RetryBlocks, redisqueue.RetryReport, redisqueue.RetryAll}[how%3])
	case 54, 55, 56:
		w.say("a moment passes")
		w.pass(w.timing.Lease * time.Duration(1+how%16) / 16)
	case 57:
		if how%4 == 0 {
			return w.killer(ctx, how/4)
		}
		fallthrough
	case 58:
		w.say("a lease passes")
		w.pass(w.timing.Lease + time.Millisecond)
	case 59:
		if how%8 == 0 {
			w.say("much time passes")
			w.pass(time.Duration(how) * w.timing.Lease / 16)
		} else if how%8 == 1 && w.exact {
			w.say("the clock jumps")
			w.pass(2 * time.Hour)
		}
	case 60:
		if a != nil {
			c = w.pay(a, how)
		}
	case 61:
		if n := len(w.frozen); n > 0 {
			return w.thaw(w.frozen[how%n])
		}
	case 62:
		c = w.create()
	case 63:
		if w.ref.published && w.exact && len(w.frozen) == 0 {
			return w.expire(ctx)
		}
	}
	if c == nil {
		return nil
	}
	return w.perform(ctx, c, f)
}

// choose returns the attempt to act next: usually one that holds its lease, otherwise any earlier one.
func (w *world) choose(how int) *worked {
	var live []*worked
	for _, a := range w.attempts {
		if w.ref.valid(a.ref) {
			live = append(live, a)
		}
	}
	if how < 200 && len(live) > 0 {
		return live[how%len(live)]
	}
	if n := len(w.attempts); n > 0 {
		return w.attempts[n-1-how%min(n, 8)]
	}
	return nil
}

// deliver returns the next task of the job queue: usually one that is wanted, otherwise any earlier one.
func (w *world) deliver(how int) (redisqueue.Intent, bool) {
	var fresh []redisqueue.Intent
	for _, i := range w.ref.wanted() {
		if slices.Contains(w.tasks, i) && w.ref.unit(i.Unit).owner == 0 {
			fresh = append(fresh, i)
		}
	}
	if how < 200 && len(fresh) > 0 {
		return fresh[how%len(fresh)], true
	}
	if n := len(w.tasks); n > 0 {
		return w.tasks[n-1-how%min(n, 8)], true
	}
	return redisqueue.Intent{}, false
}

// killer lets a unit kill one worker after the other.
func (w *world) killer(ctx context.Context, how int) error {
	var unit string
	for range redisqueue.MaxLapses {
		task, ok := w.deliver(how % 200)
		if !ok || unit != "" && task.Unit != unit {
			return nil
		}
		unit = task.Unit
		w.say("%s kills a worker", unit)
		if err := w.perform(ctx, w.begin(task), fault{}); err != nil {
			return err
		}
		w.pass(w.timing.Lease + time.Millisecond)
		if err := w.settle(ctx); err != nil {
			return err
		}
		if err := w.perform(ctx, w.sweep(true), fault{}); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) resume() *call {
	c := w.returning("resume", func(ctx context.Context) ([]redisqueue.Intent, error) { return w.queue.Resume(ctx, w.run.ID) },
		func() ([]redisqueue.Intent, error) {
			intents, err := w.ref.resume()
			if w.ref.state == topicqueue.RunQueued {
				intents = nil // the index says when it is its turn
			}
			return intents, err
		})
	return c
}

// answer replies to the last question, or to an earlier one.
func (w *world) answer(text string, before int) *call {
	number := max(1, w.ref.asks-before)
	reply := topicqueue.Reply{Outcome: topicqueue.ReplyAnswered, Text: text}
	return w.returning(fmt.Sprintf("answer %s to question %d", text, number),
		func(ctx context.Context) ([]redisqueue.Intent, error) {
			return w.queue.Answer(ctx, w.run.ID, number, reply)
		},
		func() ([]redisqueue.Intent, error) { return w.ref.giveAnswer(number, text) })
}

func (w *world) retry(what string) *call {
	w.owners++
	token := w.owners
	return w.returning("retry "+what, func(ctx context.Context) ([]redisqueue.Intent, error) {
		return w.queue.Retry(ctx, w.run.ID, what, maxIterations)
	}, func() ([]redisqueue.Intent, error) {
		intents, err := w.ref.retry(what, maxIterations, token)
		if w.ref.state == topicqueue.RunQueued {
			intents = nil // the index says when it is its turn
		}
		return intents, err
	})
}

// lookAround does what every worker does each second: feed, then sweep due runs.
func (w *world) lookAround(ctx context.Context, f fault) error {
	fed, err := w.queue.Feed(ctx, w.run.Lane, 2, 0)
	if err != nil {
		return err
	}
	due, takeover, err := w.queue.Due(ctx)
	if err != nil {
		return err
	}
	for _, runID := range slices.Concat(fed, due) {
		if runID != w.run.ID {
			return fmt.Errorf("due: %s", runID)
		}
		w.say("due")
		if err := w.perform(ctx, w.sweep(takeover), f); err != nil {
			return err
		}
	}
	return nil
}

// forgotten reports whether workers no longer check the run.
func (w *world) forgotten(ctx context.Context) bool {
	for _, key := range []string{"nightdesk:{index}:runs", "nightdesk:{index}:ended", "nightdesk:{index}:waiting:", "nightdesk:{index}:fed:"} {
		if w.rdb.ZCard(ctx, key).Val() > 0 {
			return false
		}
	}
	return w.rdb.HLen(ctx, "nightdesk:{index}:states").Val()+w.rdb.SCard(ctx, "nightdesk:{index}:begun:").Val() == 0
}

// expire advances the clock until the state of a published run has expired.
func (w *world) expire(ctx context.Context) error {
	if !w.forgotten(ctx) {
		return nil
	}
	w.say("its state expires")
	w.pass(expiry + time.Second)
	w.ref.expire()
	w.stream = stream{}
	return nil
}

// finishAll shows that nothing was lost: a worker that finds all work through the index completes the run. Only the
// documented data remains.
func (w *world) finishAll(ctx context.Context) error {
	for range 400 {
		if (w.ref.published || !w.ref.exists) && w.forgotten(ctx) {
			return w.leftovers(ctx)
		}
		w.pass(w.timing.Lease / 20)
		if err := w.settle(ctx); err != nil {
			return err
		}
		if w.ref.paused {
			if err := w.perform(ctx, w.resume(), fault{}); err != nil {
				return err
			}
		}
		if w.ref.state == topicqueue.RunAwaitingInput {
			if err := w.perform(ctx, w.answer("yes", 0), fault{}); err != nil {
				return err
			}
		}
		attempts, said := len(w.attempts), len(w.log)
		w.tasks = nil
		if err := w.lookAround(ctx, fault{}); err != nil {
			return err
		}
		if err := w.workOff(ctx, attempts); err != nil {
			return err
		}
		if len(w.log) == said {
			continue
		}
		if err := w.after(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("the run never ends: %v", w.ref)
}

// workOff executes the job queue and all following tasks.
func (w *world) workOff(ctx context.Context, begun int) error {
	for len(w.tasks) > 0 || len(w.attempts) > begun {
		for _, a := range w.attempts[begun:] {
			how := 1 // a block ends
			if a.ref.unit == redisqueue.UnitPlan {
				how = 2
			} else if a.ref.unit != redisqueue.UnitReport && topicqueue.BlockNumber(a.ref.unit) == 0 {
				how = 0
			}
			if err := w.perform(ctx, w.act(a, how), fault{}); err != nil {
				return err
			}
		}
		w.attempts = w.attempts[:begun]
		if len(w.tasks) > 0 {
			task := w.tasks[0]
			w.tasks = w.tasks[1:]
			if err := w.perform(ctx, w.begin(task), fault{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// leftovers checks the remaining data of the run after publishing and after expiry.
func (w *world) leftovers(ctx context.Context) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	state := w.ref.line
	if w.ref.published {
		state = w.ref.state
	}
	if w.exact {
		w.pass(expiry + time.Second)
	} else {
		w.rdb.Del(ctx, w.rdb.Keys(ctx, w.key("*")).Val()...)
	}
	w.ref.expire()
	if err := w.check(ctx); err != nil {
		return err
	}
	if state == "" {
		return nil
	}
	var runs []topicqueue.Run
	if err := w.queue.Runs(ctx, w.run.Batch, func(run topicqueue.Run) error { runs = append(runs, run); return nil }); err != nil {
		return err
	}
	if len(runs) != 1 || runs[0].State != state {
		return fmt.Errorf("the batch lists %+v, want one run that is %s", runs, state)
	}
	return nil
}

// virtual is an in-process Redis with a clock controlled by the test.
type virtual struct {
	server *miniredis.Miniredis
	rdb    *redis.Client
}

func newVirtual(t testing.TB) *virtual {
	t.Helper()
	m := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: m.Addr(), MaxRetries: -1})
	t.Cleanup(func() { rdb.Close() })
	rdb.AddHook(faults{})
	return &virtual{m, rdb}
}

// live returns the error that a history reveals, or nil.
func (v *virtual) live(ctx context.Context, history []byte) (log string, err error) {
	var settings [settingsBytes]byte
	n := copy(settings[:], history)
	v.server.FlushAll()
	now := time.Now().Round(time.Millisecond)
	v.server.SetTime(now)
	timing := redisqueue.DefaultTiming
	w := newWorld(v.rdb, timing, now, settings)
	w.exact = true
	w.pass = func(d time.Duration) {
		now = now.Add(d)
		v.server.SetTime(now)
		v.server.FastForward(d)
	}
	w.settle = func(context.Context) error { w.ref.now = now.UnixMilli(); return nil }
	if err = w.settle(ctx); err == nil {
		err = w.live(ctx, history[n:])
	}
	return fmt.Sprintf("%+v\n%s\n%v", w.run.Options, w.history(), w.ref), err
}

// historySteps is the number of steps in a history, enough for several epochs.
const historySteps = 120

func randomHistory(random *rand.Rand) []byte {
	history := make([]byte, settingsBytes+stepBytes*(10+random.IntN(historySteps)))
	for i := range history {
		history[i] = byte(random.Uint32())
	}
	// Faults in addition to the actions of workers and users: none, some, or every second call.
	trouble, meddling := random.IntN(3), random.IntN(2) == 0
	for i := settingsBytes; i+stepBytes <= len(history); i += stepBytes {
		switch {
		case trouble == 0:
			history[i+2] |= 8
		case trouble == 2 && random.IntN(2) == 0:
			history[i+2] &^= 12
		}
		if meddling && random.IntN(3) == 0 { // people want now this, now that
			history[i] = []byte{42, 46, 47, 49, 50, 52, 54, 58, 61}[random.IntN(9)]
		}
	}
	return history
}

// TestTransitions executes many random histories and compares each step with the reference.
func TestTransitions(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	seed := *propertySeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	v, random := newVirtual(t), rand.New(rand.NewPCG(seed, 0))
	for steps := 0; steps < *propertySteps; {
		history := randomHistory(random)
		steps += len(history) / stepBytes
		if _, err := v.live(t.Context(), history); err != nil {
			history = shorten(history, func(h []byte) bool { _, err := v.live(t.Context(), h); return err != nil })
			log, err := v.live(t.Context(), history)
			t.Fatalf("seed %d: %v\n%s\nas a seed of FuzzTransitions:\n[]byte(%q)", seed, err, log, history)
		}
	}
}

// shorten removes the parts of a history that are not needed for it to fail.
func shorten(history []byte, fails func([]byte) bool) []byte {
	for size := len(history) / stepBytes; size > 0; {
		shorter := false
		for at := settingsBytes; at+size*stepBytes <= len(history); {
			h := slices.Delete(slices.Clone(history), at, at+size*stepBytes)
			if fails(h) {
				history, shorter = h, true
			} else {
				at += stepBytes
			}
		}
		if !shorter || size > 1 {
			size /= 2
		}
	}
	for i := range history { // and make what is left as plain as it can be
		for _, plain := range []byte{0, 7} {
			h := slices.Clone(history)
			if h[i] = plain; history[i] != plain && (i < settingsBytes || (i-settingsBytes)%stepBytes > 0) && fails(h) {
				history = h
				break
			}
		}
	}
	return history
}

// FuzzTransitions is TestTransitions with histories from a fuzzer.
func FuzzTransitions(f *testing.F) {
	f.Add([]byte{})
	// A pause that is frozen before it updates the index, while the run is resumed, cancelled and retried.
	f.Add([]byte("\x00\x00\x00\x00.\x00\x13/\x00\a:\x00\x001\x00\a*\x00\a6\a\x00I\x00\a\xcc\x00\x00\xea\x00\a"))
	for seed := range uint64(12) {
		f.Add(randomHistory(rand.New(rand.NewPCG(seed, 1))))
	}
	f.Fuzz(func(t *testing.T, history []byte) {
		if len(history) > settingsBytes+stepBytes*2*historySteps {
			t.Skip("too long")
		}
		if log, err := newVirtual(t).live(t.Context(), history); err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
	})
}
