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
	ErrStale    = errors.New("the run no longer wants this")
	ErrFenced   = errors.New("another attempt has taken over")
	ErrRunning  = errors.New("the run has not ended")
)

// Timing says how long the queue waits for signs of life.
type Timing struct {
	Lease time.Duration // how long an attempt may stay silent before another may take its unit over
	Stuck time.Duration // how long a task may be active in the job queue without beginning
	Gap   time.Duration // between two sweeps of whatever worker, after which nobody's silence counts for a while ...
	Quiet time.Duration // ... which is this long: Redis was away for everybody, or no worker ran
}

// DefaultTiming is what a desk uses; tests use shorter times.
var DefaultTiming = Timing{Lease: 20 * time.Second, Stuck: 5 * time.Second, Gap: 5 * time.Second,
	Quiet: 20 * time.Second}

// Queue is the state of all runs in one Redis. It is its parts, one for each kind of caller; a part holds only what its
// methods use. It does not own the client.
type Queue struct {
	base
	reader    // what runs hold, for everybody
	along     // what models are writing, for those who read along
	attempts  // the work on a run, under a lease
	controls  // what a person tells a run
	upkeep    // feeding, sweeping and counting, by workers
	batches   // batches and their digests
	budgets   // budgets that runs share
	schedules // recurring batches
}

// New returns the queue on this Redis, which must keep its data (appendonly) and never evict it (noeviction).
func New(rdb redis.UniversalClient, timing Timing) *Queue {
	b := base{rdb, timing}
	q := &Queue{base: b, reader: reader{b}, along: along{b}, budgets: budgets{b}, schedules: schedules{b}}
	q.batches = batches{b, &q.reader}
	q.attempts = attempts{b, &q.reader, &q.batches}
	q.controls = controls{b, &q.reader, &q.batches, &q.budgets}
	q.upkeep = upkeep{b, &q.reader, &q.batches}
	return q
}

// base is what all parts stand on: the scripts on one run, and what the index is told of it.
type base struct {
	rdb    redis.UniversalClient
	timing Timing
}

// Timing returns the times that the queue was made with.
func (q *base) Timing() Timing { return q.timing }

// Unit names of a run's work; a block's unit is its block id.
const (
	UnitPlan    = "plan"
	UnitReview  = "review"
	UnitReport  = "report"
	UnitNarrate = "narrate"
	UnitPublish = "publish" // what the run leaves behind goes to storage
)

// Intent is a task that a run wants to be in the job queue.
type Intent struct {
	RunID      string
	Unit       string // one of the Unit... constants or a block id
	Generation int
	Lane       string // suffix of the queue names
	Begun      bool   // of a plan: its run has begun before
	Path       string // of a run with a plan: see topicqueue.Plan
	About      About
}

// About says for a person what a task is about. Of long texts it is the first bytes, which may end within a rune.
type About struct{ Topic, Title, Batch string }

// key returns the name of one of a run's keys.
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

	// On the run index or a batch, not on one run: without the prelude.
	dueScript  = lua.Script("due")
	noteScript = lua.Script("note")
	feedScript = lua.Script("feed")
	lineScript = lua.Script("line")
	poolScript = lua.Script("pool")

	scheduleScript = lua.Script("schedule")
)

// Writable reports why Redis takes no writes now: it is away, its disk or memory is full, or it is read-only.
func (q *base) Writable(ctx context.Context) error {
	return q.rdb.Set(ctx, lua.Prefix+"probe", "", time.Minute).Err()
}

// reply is what a script returned: a status, then values that depend on the script.
type reply struct {
	status string
	values []any
}

// run calls a script on one run and turns a refusal into its error. doing says what for, in errors.
func (q *base) run(ctx context.Context, s *redis.Script, doing, runID string, args ...any) (reply, error) {
	values, err := s.Run(ctx, q.rdb, []string{key(runID, "run")}, args...).Slice()
	if err != nil {
		return reply{}, fmt.Errorf("%s of run %s in Redis: %w", doing, runID, err)
	}
	r := reply{status: lua.Text(values, 0), values: values[1:]}
	switch r.status {
	case "fenced":
		return r, fmt.Errorf("%s of run %s: %w", doing, runID, ErrFenced)
	case "stale":
		return r, fmt.Errorf("%s of run %s: %w", doing, runID, ErrStale)
	case "held":
		return r, fmt.Errorf("%s of run %s: %w", doing, runID, ErrHeld)
	case "running":
		return r, fmt.Errorf("%s of run %s: %w", doing, runID, ErrRunning)
	}
	return r, nil
}

// state is where the run stands, which every script that returns tasks says after them.
func (r reply) state() topicqueue.RunState { return topicqueue.RunState(lua.Text(r.values, 2)) }

// intents reads lane and tasks, which stand first in the reply of every script that returns tasks.
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
