package redisqueue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// world is one run with its workers, job queue and clock, all virtual, and the reference.
type world struct {
	rdb    *redis.Client
	queue  *redisqueue.Queue
	ref    *reference
	run    topicqueue.Run
	exact  bool                        // the clock stands still between two steps
	pass   func(time.Duration)         // lets time pass
	settle func(context.Context) error // before and after a step: brings the reference's clock up to date
	timing redisqueue.Timing

	tasks    []redisqueue.Intent // every task that ever was in the job queue: each may be delivered again
	attempts []*worked           // every attempt that ever began: each may come back
	frozen   []*call
	owners   int
	numbers  int // makes titles, places and checkpoints different
	stream   stream
	log      []string
}

// worked is one attempt from its worker's view.
type worked struct {
	lease redisqueue.Lease
	ref   refLease
	epoch int
	run   topicqueue.Run
	view  topicqueue.View
	next  int          // iteration
	again func() *call // its last call once more
}

// expiry is the lifetime of a published run.
const expiry = 24 * time.Hour

const maxIterations = 2

func (w *world) key(name string) string { return "nightdesk:{" + w.run.ID + "}:" + name }

// call is one call of the queue, which may fail at any command.
type call struct {
	name  string
	do    func(ctx context.Context) error
	apply func()            // the reference does the same, at the moment at which the script does it
	want  func() error      // the error that the reference gave
	idle  func() error      // compares the results of one that had nothing to do
	seen  func() error      // compares the results, of a call that ended well
	got   func(intact bool) // the worker takes what it was given; intact: nothing happened meanwhile
	fault *fault
	err   chan error
	done  int
}

// follow applies the executed scripts to the reference.
func (c *call) follow() {
	for ; c.done < c.fault.executed; c.done++ {
		c.apply()
	}
}

// perform makes a call until it has ended or is frozen, and updates the reference.
func (w *world) perform(ctx context.Context, c *call, f fault) error {
	f.key, f.frozen, f.thaw = w.key("run"), make(chan struct{}), make(chan struct{})
	c.fault, c.err = &f, make(chan error, 1)
	go func() { c.err <- c.do(context.WithValue(ctx, faultKey{}, c.fault)) }()
	return w.proceed(c, true)
}

// proceed waits until a call has ended or is frozen again.
func (w *world) proceed(c *call, intact bool) error {
	select {
	case <-c.fault.frozen:
		c.follow()
		w.frozen = append(w.frozen, c)
		w.say("%s is frozen", c.name)
		return nil
	case err := <-c.err:
		c.follow()
		return w.ended(c, err, intact)
	}
}

func (w *world) thaw(c *call) error {
	w.frozen = slices.DeleteFunc(w.frozen, func(o *call) bool { return o == c })
	w.say("%s goes on", c.name)
	c.fault.thaw <- struct{}{}
	return w.proceed(c, false)
}

func (w *world) ended(c *call, err error, intact bool) error {
	if errors.Is(err, errCrash) {
		w.say("%s: died, script executed: %v", c.name, c.fault.executed)
		return nil
	}
	if c.fault.executed == 0 {
		if !intact || c.want == nil || errors.Is(err, redisqueue.ErrNotFound) {
			return nil
		}
		if err == nil && c.idle != nil {
			return c.idle()
		}
		if err == nil {
			return fmt.Errorf("%s ended well and did nothing", c.name)
		}
		return fmt.Errorf("%s: %w", c.name, err)
	}
	want := c.want()
	w.say("%s = %v", c.name, want)
	if want == nil && err != nil && !intact {
		return nil // what it went on to read has changed meanwhile
	}
	if want != nil && !errors.Is(err, want) || want == nil && err != nil {
		return fmt.Errorf("%s: error %v, want %v", c.name, err, want)
	}
	if err != nil {
		return nil
	}
	if intact && c.seen != nil {
		if err := c.seen(); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if c.got != nil {
		c.got(intact)
	}
	return nil
}

func (w *world) say(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

// dispatch adds tasks to the job queue, unless their worker dies before.
func (w *world) dispatch(intents []redisqueue.Intent) {
	for _, i := range intents {
		if !slices.Contains(w.tasks, i) {
			w.tasks = append(w.tasks, i)
		}
	}
}

// returning builds a call that returns the wanted tasks.
func (w *world) returning(name string, do func(context.Context) ([]redisqueue.Intent, error), apply func() ([]redisqueue.Intent, error)) *call {
	var got, want []redisqueue.Intent
	var wantErr error
	return &call{
		name:  name,
		do:    func(ctx context.Context) (err error) { got, err = do(ctx); return err },
		apply: func() { want, wantErr = apply() },
		want:  func() error { return wantErr },
		seen: func() error {
			return differ("what is wanted", append([]redisqueue.Intent{}, want...), append([]redisqueue.Intent{}, got...))
		},
		got: func(bool) { w.dispatch(got) },
	}
}

// plain builds a call without a result.
func plain(name string, do func(context.Context) error, apply func() error) *call {
	var want error
	return &call{name: name, do: do, apply: func() { want = apply() }, want: func() error { return want }}
}

func (w *world) create() *call {
	var created, want bool
	return &call{
		name:  "create",
		do:    func(ctx context.Context) (err error) { created, err = w.queue.Create(ctx, w.run); return err },
		apply: func() { want = !w.ref.exists; w.ref.create() },
		want:  func() error { return nil },
		idle: func() error {
			if created || w.ref.line == "" {
				return fmt.Errorf("created: %v, of a run that is listed as %q", created, w.ref.line)
			}
			return nil
		},
		seen: func() error {
			if created != want {
				return fmt.Errorf("created: %v, want %v", created, want)
			}
			return nil
		},
	}
}

func (w *world) begin(task redisqueue.Intent) *call {
	w.owners++
	l := refLease{task.Unit, task.Generation, w.owners}
	var got redisqueue.Begun
	var want refBegun
	var wantErr error
	name := fmt.Sprintf("begin %s/%d by %d", l.unit, l.generation, l.owner)
	return &call{
		name: name,
		do: func(ctx context.Context) (err error) {
			got, err = w.queue.Begin(ctx, w.run.ID, task.Unit, task.Generation)
			return err
		},
		apply: func() { want, wantErr = w.ref.begin(l) },
		want:  func() error { return wantErr },
		seen:  func() error { return w.seenBegun(want, got) },
		got: func(intact bool) {
			a := &worked{lease: got.Lease, ref: l, epoch: got.Epoch, run: got.Run, view: got.View, next: got.Block.Iterations + 1}
			if !intact { // it read its block when that was another's already
				a.next = want.iterations + 1
			}
			w.attempts = append(w.attempts, a)
		},
	}
}

func (w *world) seenBegun(want refBegun, b redisqueue.Begun) error {
	got := refBegun{lapses: b.Lapses, epoch: b.Epoch, seal: b.Seal.Milliseconds(), final: b.Final.Milliseconds(), spent: b.Spent.Milliseconds(),
		view: seenOf(b.View), iterations: b.Block.Iterations, traces: len(b.Traces)}
	if !w.exact {
		got.seal, got.final, got.spent = want.seal, want.final, want.spent
	}
	if len(b.Memory.Feedback) > 0 {
		fmt.Sscanf(b.Memory.Feedback[0], "checkpoint %d", &got.feedback)
	}
	if want != got {
		return fmt.Errorf("begun with %+v, want %+v", got, want)
	}
	return nil
}

// seenOf converts a view for comparison with the reference.
func seenOf(v topicqueue.View) refSeen {
	s := refSeen{blocks: len(v.Blocks), queries: len(v.Queries), own: len(v.Own)}
	for _, d := range v.Ledger {
		s.ledger += fmt.Sprintf("%d/%s ", topicqueue.BlockNumber(d.Block), d.Findings[0].Text)
	}
	return s
}

// fresh returns a title that no block has.
func (w *world) fresh() string {
	w.numbers++
	return fmt.Sprintf("River %d", w.numbers)
}

func (w *world) titles(n int) []string {
	var out []string
	for range n {
		out = append(out, w.fresh())
	}
	return out
}

func subTopics(titles []string) []topicqueue.SubTopic {
	var out []topicqueue.SubTopic
	for _, title := range titles {
		out = append(out, topicqueue.SubTopic{Title: title})
	}
	return out
}

// reviewOf returns a review that adds blocks with these titles.
func reviewOf(titles ...string) topicqueue.Review {
	return topicqueue.Review{Gaps: subTopics(titles)}
}

// act returns the next call of an attempt. how selects a variant.
func (w *world) act(a *worked, how int) *call {
	a.again = w.deed(a, how)
	return a.again()
}

// deed returns a function that makes the next call of an attempt. It may be called repeatedly.
func (w *world) deed(a *worked, how int) func() *call {
	q, r, name := w.queue, w.ref, func(what string) string {
		return fmt.Sprintf("%s %s/%d by %d", what, a.ref.unit, a.ref.generation, a.ref.owner)
	}
	switch a.ref.unit {
	case redisqueue.UnitPlan:
		switch how % 8 {
		case 6:
			return func() *call {
				return plain(name("await"), func(ctx context.Context) error {
					return q.Await(ctx, a.lease,
						topicqueue.Question{Text: "Which?"}, 0)
				},
					func() error { _, err := r.await(a.ref); return err })
			}
		case 7:
			return w.finish(a, name("finish"), topicqueue.RunFailed, "")
		}
		titles := w.titles(how % 6)
		return func() *call {
			return w.returning(name(fmt.Sprintf("commit of %d blocks", len(titles))), func(ctx context.Context) ([]redisqueue.Intent, error) {
				plan := planOf(titles...)
				plan.Reviews = r.options.MaxLoops
				return q.CommitPlan(ctx, a.lease, plan)
			}, func() ([]redisqueue.Intent, error) { return r.commitPlan(a.ref, titles) })
		}
	case redisqueue.UnitReview:
		titles := w.titles(how % 3)
		return func() *call {
			return w.returning(name(fmt.Sprintf("close with %d blocks", len(titles))), func(ctx context.Context) ([]redisqueue.Intent, error) {
				return q.CloseReview(ctx, a.lease, reviewOf(titles...))
			}, func() ([]redisqueue.Intent, error) { return r.closeReview(a.ref, titles) })
		}
	case redisqueue.UnitReport:
		if how%4 == 3 {
			return w.finish(a, name("finish"), topicqueue.RunFailed, "")
		}
		state := []topicqueue.RunState{topicqueue.RunCompleted, topicqueue.RunPartial}[how%2]
		return w.finish(a, name("finish"), state, "reports/x.md")
	case redisqueue.UnitNarrate:
		return func() *call {
			return w.returning(name("end"), func(ctx context.Context) ([]redisqueue.Intent, error) {
				return q.Narrated(ctx, a.lease, topicqueue.Narration{})
			},
				func() ([]redisqueue.Intent, error) { return r.narrated(a.ref) })
		}
	case redisqueue.UnitPublish:
		if how%4 == 3 {
			return func() *call {
				return plain(name("unpublished"), func(ctx context.Context) error { return q.Unpublished(ctx, a.lease, "no bucket") },
					func() error { return r.noteUnpublished(a.ref, "no bucket") })
			}
		}
		return w.published(a, name("publish"))
	}
	if how%2 == 0 {
		return w.checkpoint(a, how/2)
	}
	status, reason := topicqueue.BlockCompleted, ""
	switch how / 2 % 4 {
	case 2:
		reason = "cut short: its time was used up"
	case 3:
		status, reason = topicqueue.BlockFailed, "nothing was found"
	}
	returned := ""
	if how%3 == 0 {
		returned = fmt.Sprint("hash of the end ", how)
	}
	return func() *call {
		return w.returning(name("end as "+string(status)), func(ctx context.Context) ([]redisqueue.Intent, error) {
			return q.EndBlock(ctx, a.lease, status, reason, nil, returned)
		}, func() ([]redisqueue.Intent, error) { return r.endBlock(a.ref, status, reason, returned) })
	}
}

func (w *world) finish(a *worked, name string, state topicqueue.RunState, report string) func() *call {
	out := redisqueue.Outcome{State: state, Report: report}
	if state != topicqueue.RunCompleted {
		out.Reason = "the writer fell back"
	}
	if report != "" {
		out.Content = []byte("{}")
	}
	return func() *call {
		return w.returning(name+" as "+string(state), func(ctx context.Context) ([]redisqueue.Intent, error) { return w.queue.Finish(ctx, a.lease, out) },
			func() ([]redisqueue.Intent, error) { return w.ref.finish(a.ref, state, out.Reason, report) })
	}
}

func (w *world) published(a *worked, name string) func() *call {
	return func() *call {
		return plain(name, func(ctx context.Context) error {
			return w.queue.Published(ctx, a.lease, a.run, expiry)
		}, func() error { return w.ref.publish(a.ref) })
	}
}

func (w *world) checkpoint(a *worked, how int) func() *call {
	w.numbers++
	c := refCheckpoint{iteration: a.next, traces: how % 3, queries: how % 2, number: w.numbers, digest: how%3 > 0, proposals: w.titles(how / 2 % 3)}
	if how%5 == 4 && len(a.view.Blocks) > 0 {
		c.proposals = append(c.proposals, a.view.Blocks[0].Title)
	}
	cp := topicqueue.Checkpoint{Iteration: c.iteration, Proposals: subTopics(c.proposals),
		Memory: topicqueue.BlockMemory{Feedback: []string{fmt.Sprintf("checkpoint %d", c.number)}}}
	cp.Calls = map[string]topicqueue.ToolCalls{"web_search": {Asked: c.queries + 1, Shared: c.queries}}
	if how%3 > 0 {
		c.returned = fmt.Sprint("hash ", c.number)
	}
	cp.Returned = c.returned
	if c.digest {
		cp.Digest.Findings = []topicqueue.Finding{{Text: fmt.Sprint(c.number)}}
	}
	for n := range c.traces {
		cp.Traces = append(cp.Traces, topicqueue.ToolTrace{CitationID: fmt.Sprint(n), Claims: []topicqueue.Claim{}})
	}
	for n := range c.queries {
		cp.Queries = append(cp.Queries, fmt.Sprint("why ", n))
	}
	view := a.view
	return func() *call {
		var result topicqueue.CheckpointResult
		var got, want []redisqueue.Intent
		var wantView refSeen
		var admissions []topicqueue.Admission
		var wantErr error
		return &call{
			name: fmt.Sprintf("checkpoint %d of %s/%d by %d with %d traces, %d proposals", c.iteration, a.ref.unit, a.ref.generation, a.ref.owner, c.traces, len(c.proposals)),
			do: func(ctx context.Context) (err error) {
				result, got, err = w.queue.Checkpoint(ctx, a.lease, cp, view, w.run.Options.QueueMaxLength)
				return err
			},
			apply: func() { wantView, admissions, want, wantErr = w.ref.checkpoint(a.ref, c) },
			want:  func() error { return wantErr },
			seen: func() error {
				return errors.Join(differ("what is wanted", want, got), differ("the answers", admissions, result.Admissions),
					differ("the view", fmt.Sprintf("%+v", wantView), fmt.Sprintf("%+v", seenOf(result.View))))
			},
			got: func(bool) {
				a.view, a.next = result.View, c.iteration+1
				w.dispatch(got)
			},
		}
	}
}

func (w *world) sweep(takeover bool) *call {
	w.owners++
	owner := w.owners
	var got redisqueue.Swept
	var want []redisqueue.Intent
	var forced int
	var stale error
	return &call{
		name: fmt.Sprintf("sweep, takeover %v, by %d", takeover, owner),
		do: func(ctx context.Context) (err error) {
			got, err = w.queue.Sweep(ctx, w.run.ID, takeover)
			return err
		},
		apply: func() { want, forced, stale = w.ref.sweep(takeover, owner) },
		want:  func() error { return nil },
		seen: func() error {
			if stale != nil {
				want = nil
			}
			if (forced > 0) != (got.Forced != nil) || forced > 0 && got.Forced.Generation != forced {
				return fmt.Errorf("forced %+v, want %d", got.Forced, forced)
			}
			if forced > 0 {
				return nil
			}
			if w.ref.state == topicqueue.RunQueued && len(got.Intents) == 0 { // the index says when it is its turn
				return nil
			}
			return differ("what is wanted", append([]redisqueue.Intent{}, want...), append([]redisqueue.Intent{}, got.Intents...))
		},
		got: func(bool) {
			w.dispatch(got.Intents)
			if got.Forced != nil {
				w.attempts = append(w.attempts, &worked{lease: *got.Forced, ref: refLease{"report", got.Forced.Generation, owner}, epoch: w.ref.epoch})
			}
		},
	}
}

func (w *world) renew(list []*worked) *call {
	var got redisqueue.Renewed
	var want []string
	var paused bool
	var leases []redisqueue.Lease
	for _, a := range list {
		leases = append(leases, a.lease)
	}
	return &call{
		name: "renew",
		do:   func(ctx context.Context) (err error) { got, err = w.queue.Renew(ctx, w.run.ID, leases); return err },
		apply: func() {
			want, paused = nil, w.ref.paused
			for _, a := range list {
				if !w.ref.renew(a.ref) {
					want = append(want, a.ref.unit)
				}
			}
		},
		want: func() error { return nil },
		seen: func() error {
			return errors.Join(differ("what is lost", want, got.Lost), differ("paused", paused, got.Paused))
		},
	}
}

func (w *world) write(a *worked, place string) *call {
	w.numbers++
	value := fmt.Sprint("answer ", w.numbers)
	var got []byte
	var want string
	return &call{
		name: fmt.Sprintf("journal %s of %s by %d", place, a.ref.unit, a.ref.owner),
		do: func(ctx context.Context) (err error) {
			got, err = w.queue.Journal(ctx, a.lease, a.epoch, place, []byte(value))
			return err
		},
		apply: func() { want = w.ref.write(a.ref, a.epoch, place, value) },
		want:  func() error { return nil },
		seen:  func() error { return differ("what stands there", want, string(got)) },
	}
}

// pay returns a reservation or record of a model call of an attempt.
func (w *world) pay(a *worked, how int) *call {
	place := []string{"1/decide", "1/note/1"}[how%2]
	if how%4 < 2 {
		x := redisqueue.Reservation{Question: int64(how), Longest: int64(how), Usual: 40, Least: 10, Stay: int64(how % 7)}
		var got, want int64
		var wantErr error
		return &call{
			name:  fmt.Sprintf("reserve %d for %s of %s/%d by %d", how, place, a.ref.unit, a.ref.generation, a.ref.owner),
			do:    func(ctx context.Context) (err error) { got, err = w.queue.Reserve(ctx, a.lease, place, x); return err },
			apply: func() { want, wantErr = w.ref.reserve(a.ref, place, x) },
			want:  func() error { return wantErr },
			seen:  func() error { return differ("what the answer may cost", want, got) },
		}
	}
	w.numbers++
	usage, value, cost, recorded := topicqueue.Usage{PromptTokens: w.numbers}, "", int64(how%50), false
	if how%8 < 4 {
		value = fmt.Sprint("answer ", w.numbers)
	}
	var got []byte
	var want string
	return &call{
		name: fmt.Sprintf("answer of %s of %s/%d by %d for %d, kept %v", place, a.ref.unit, a.ref.generation, a.ref.owner, cost, value != ""),
		do: func(ctx context.Context) (err error) {
			got, err = w.queue.Answered(ctx, a.lease, a.epoch, place, []byte(value), usage, cost)
			return err
		},
		apply: func() {
			want = w.ref.answered(a.ref, a.epoch, place, value, cost, recorded)
			recorded = recorded || w.ref.exists // the same call is counted once
		},
		want: func() error { return nil },
		seen: func() error { return differ("what stands there", want, string(got)) },
	}
}

// history returns the log of steps.
func (w *world) history() string { return strings.Join(w.log, "\n") }
