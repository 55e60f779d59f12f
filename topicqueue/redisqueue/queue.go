package redisqueue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// Errors that callers branch on.
var (
	ErrNotFound = errors.New("no such run")
	ErrHeld     = errors.New("another attempt holds the lease")
	ErrStale    = errors.New("the run no longer needs this task")
	ErrFenced   = errors.New("another attempt has taken over")
	ErrRunning  = errors.New("the run has not ended")
)

// refusals are the errors by the status of a script.
var refusals = map[string]error{"fenced": ErrFenced, "stale": ErrStale, "held": ErrHeld, "running": ErrRunning}

// Timing sets how long the queue waits for signs of life.
type Timing struct {
	Lease time.Duration // silence after which another attempt may take over a unit
	Stuck time.Duration // how long a task may be active in the job queue without beginning its unit
	Gap   time.Duration // interval without any sweep that starts a quiet time ...
	Quiet time.Duration // ... of this length without takeovers, because Redis was unreachable or no worker ran
}

// DefaultTiming is used in production; tests use shorter times.
var DefaultTiming = Timing{Lease: 20 * time.Second, Stuck: 5 * time.Second, Gap: 5 * time.Second,
	Quiet: 20 * time.Second}

// Queue is the state of all runs in one Redis. It consists of parts, one for each kind of caller. Each part holds
// only what its methods use. Queue does not own the client.
type Queue struct {
	base
	reader    // contents of runs, for all callers
	along     // text that models are writing, for live readers
	attempts  // work on a run, under a lease
	controls  // a person's commands to a run
	upkeep    // feeding, sweeping and counting, by workers
	batches   // batches and their digests
	budgets   // budgets shared by runs
	schedules // recurring batches
}

// New returns the queue stored in rdb, which must persist its data (appendonly) and never evict it (noeviction).
func New(rdb redis.UniversalClient, timing Timing) *Queue {
	b := base{rdb, timing}
	q := &Queue{base: b, reader: reader{b}, along: along{b}, budgets: budgets{b}, schedules: schedules{b}}
	q.batches = batches{b, &q.reader}
	q.attempts = attempts{b, &q.reader, &q.batches}
	q.controls = controls{b, &q.reader, &q.batches, &q.budgets}
	q.upkeep = upkeep{b, &q.reader, &q.batches}
	return q
}

// base is embedded in all parts. It calls the scripts of a run and updates the index.
type base struct {
	rdb    redis.UniversalClient
	timing Timing
}

// Timing returns the timing passed to New.
func (q *base) Timing() Timing { return q.timing }

// Units of a run's work. The unit of a block is its block id.
const (
	UnitPlan    = "plan"
	UnitReview  = "review"
	UnitReport  = "report"
	UnitNarrate = "narrate"
	UnitPublish = "publish" // store the run's results
)

// Intent is a task that a run wants in the job queue.
type Intent struct {
	RunID      string
	Unit       string // one of the Unit... constants or a block id
	Generation int
	Lane       string // suffix of the queue names
	Begun      bool   // for a plan: the run has begun before
	Path       string // for a run with a plan: see topicqueue.Plan
	About      About
}

// About describes a task for display. Long texts are cut to their first bytes and may end within a rune.
type About struct{ Topic, Title, Batch string }

// key returns the full name of a key of a run.
func key(runID, name string) string { return lua.Prefix + "{" + runID + "}:" + name }

var (
	createScript       = lua.RunScript("create")
	beginScript        = lua.RunScript("begin")
	renewScript        = lua.RunScript("renew")
	yieldScript        = lua.RunScript("yield")
	releaseScript      = lua.RunScript("release")
	emitScript         = lua.RunScript("emit")
	journalScript      = lua.RunScript("journal")
	reserveScript      = lua.RunScript("reserve")
	purseScript        = lua.RunScript("purse")
	commitPlanScript   = lua.RunScript("commit_plan")
	checkpointScript   = lua.RunScript("checkpoint")
	endBlockScript     = lua.RunScript("end_block")
	advanceStageScript = lua.RunScript("advance_stage")
	answerScript       = lua.RunScript("answer")
	finishScript       = lua.RunScript("finish")
	publishedScript    = lua.RunScript("published")
	unpublishedScript  = lua.RunScript("unpublished")
	cancelScript       = lua.RunScript("cancel")
	pauseScript        = lua.RunScript("pause")
	retryScript        = lua.RunScript("retry")
	sweepScript        = lua.RunScript("sweep")
	advanceScript      = lua.RunScript("advance")

	// Scripts on the run index or a batch, not on one run; they do without the prelude.
	dueScript  = lua.Script("due")
	noteScript = lua.Script("note")
	feedScript = lua.Script("feed")
	lineScript = lua.Script("line")
	poolScript = lua.Script("pool")

	scheduleScript = lua.Script("schedule")
)

// Writable returns an error if Redis accepts no writes: it is unreachable, its disk or memory is full, or it is
// read-only.
func (q *base) Writable(ctx context.Context) error {
	return q.rdb.Set(ctx, lua.Prefix+"probe", "", time.Minute).Err()
}

// reply is the result of a script: a status, then values that depend on the script.
type reply struct {
	status string
	values []any
}

// run calls a script on one run and converts a refusal to its error. doing names the operation in errors.
func (q *base) run(ctx context.Context, s *redis.Script, doing, runID string, args ...any) (reply, error) {
	values, err := s.Run(ctx, q.rdb, []string{key(runID, "run")}, args...).Slice()
	if err != nil {
		return reply{}, redisError(err, "%s of run %s", doing, runID)
	}
	r := reply{status: lua.Text(values, 0), values: values[1:]}
	if refused := refusals[r.status]; refused != nil {
		return r, fmt.Errorf("%s of run %s: %w", doing, runID, refused)
	}
	return r, nil
}

// move is run for a script that moves the run on. It returns the tasks that the run now wants.
func (q *base) move(ctx context.Context, s *redis.Script, doing, runID string, args ...any) ([]Intent, error) {
	r, err := q.run(ctx, s, doing, runID, args...)
	if err != nil {
		return nil, err
	}
	return r.intents(runID), q.moved(ctx, runID, r)
}

// redisError adds what was being done to an error of Redis; nil stays nil.
func redisError(err error, doing string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s in Redis: %w", fmt.Sprintf(doing, args...), err)
}

// state returns the state of the run, which scripts that return tasks add after them.
func (r reply) state() topicqueue.RunState { return topicqueue.RunState(lua.Text(r.values, 2)) }

// intents decodes lane and tasks, the first values of every script that returns tasks.
func (r reply) intents(runID string) []Intent {
	list, _ := r.values[1].([]any)
	out := []Intent{}
	for i := 3; i+2 < len(list); i += 3 {
		unit := lua.Text(list, i)
		out = append(out, Intent{RunID: runID, Unit: unit, Generation: lua.Number(list, i+1), Lane: lua.Text(r.values, 0),
			Begun: unit == UnitPlan && r.state() == topicqueue.RunPlanning, Path: lua.Text(list, 2),
			About: About{Topic: lua.Text(list, 0), Title: lua.Text(list, i+2), Batch: lua.Text(list, 1)}})
	}
	return out
}
