// Package jobs is the only part of nightdesk that knows asynq: task kinds and payloads, enqueueing, the worker with its
// handlers, and what an error means for a task.
//
// A task is a wake-up that carries ids. Its handler takes the lease of the unit of work that the task names (package
// redisqueue), does the work through the pipeline, and commits by a script; what the script then wants done becomes the
// next tasks. Start reading with Worker and attempt.go.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/hibiken/asynq"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Kinds of tasks.
const (
	KindPlan    = "run:plan"
	KindBlock   = "block:research"
	KindAnswer  = "run:answer" // the only block of a run that is answered in one conversation
	KindReview  = "run:review"
	KindReport  = "run:report"
	KindNarrate = "run:narrate" // the report is read aloud
	KindPublish = "run:publish"
)

// Queues, one per stage. A run's lane is appended: "planning-high".
const (
	queuePlanning    = "planning"
	queueResearching = "researching"
	queueReporting   = "reporting"
)

// Lanes that every worker serves; the shared one lies between them.
const (
	LaneHigh = "high"
	LaneLow  = "low"
)

// SharedLane reports whether every worker serves a lane; others are private to one process.
func SharedLane(lane string) bool { return lane == LaneHigh || lane == "" || lane == LaneLow }

const (
	// maxRetry counts attempts after errors of our own services (Redis, storage) and after crashes, not the model's.
	maxRetry = 4
	// retention is how long a task that has ended can be seen, with its result.
	retention = 24 * time.Hour
	// taskTimeout lies above everything: asynq starts a task again whose time is over while it still runs.
	taskTimeout = 24 * time.Hour
)

// payload is the content of every task. What it is about stands first: dashboards cut long payloads.
type payload struct {
	Topic      string `json:"topic,omitempty"` // shortened, as are title and batch
	Title      string `json:"title,omitempty"` // of the block
	Batch      string `json:"batch,omitempty"`
	Unit       string `json:"unit"` // a unit of the run, see redisqueue: plan, review, ... or a block id
	Generation int    `json:"generation"`
	RunID      string `json:"run_id"`
}

// Bytes of a payload's texts: each heartbeat of asynq writes those of all active tasks.
const (
	aboutTopic = 160
	aboutTitle = 100
	aboutBatch = 60
)

func payloadOf(i redisqueue.Intent) payload {
	short := func(text string, limit int) string { return topicqueue.Clip(topicqueue.OneLine(text), limit) }
	return payload{Topic: short(i.About.Topic, aboutTopic), Title: short(i.About.Title, aboutTitle),
		Batch: short(i.About.Batch, aboutBatch), Unit: i.Unit, Generation: i.Generation, RunID: i.RunID}
}

func (p *payload) check() error {
	if p.RunID == "" || p.Unit == "" {
		return errors.New("run_id and unit are needed")
	}
	return nil
}

func queueName(stage, lane string) string {
	if lane == "" {
		return stage
	}
	return stage + "-" + lane
}

// describe returns kind, queue and task id of an intent. The id is the same however often the intent is computed.
func describe(i redisqueue.Intent) (kind, queue, id string) {
	generation := strconv.Itoa(i.Generation)
	switch i.Unit {
	case redisqueue.UnitPlan:
		stage := queuePlanning
		if i.Begun && i.Generation > 1 { // it goes before runs that have not begun, and its first task is no more
			stage = queueResearching
		}
		return KindPlan, queueName(stage, i.Lane), "plan:" + i.RunID + ":" + generation
	case redisqueue.UnitReview: // generations count on from one loop to the next
		return KindReview, queueName(queueReporting, i.Lane), "review:" + i.RunID + ":" + generation
	case redisqueue.UnitReport:
		return KindReport, queueName(queueReporting, i.Lane), "report:" + i.RunID + ":" + generation
	case redisqueue.UnitNarrate:
		return KindNarrate, queueName(queueReporting, i.Lane), "narrate:" + i.RunID + ":" + generation
	case redisqueue.UnitPublish:
		return KindPublish, queueName(queueReporting, i.Lane), "publish:" + i.RunID + ":" + generation
	}
	if i.Path == topicqueue.PathShallow {
		return KindAnswer, queueName(queueResearching, i.Lane), "answer:" + i.RunID + ":" + generation
	}
	return KindBlock, queueName(queueResearching, i.Lane), "block:" + i.RunID + ":" + i.Unit + ":" + generation
}

// Dispatcher puts intents into asynq.
type Dispatcher struct {
	client    *asynq.Client
	inspector *asynq.Inspector
	wanted    []string // types of events that somebody wants to know of
	webhooks  []string // keys of those who do
	mail      bool     // digests are mailed
}

// NewDispatcher returns a dispatcher on these, which are on the queue's Redis; the caller closes its connection.
func NewDispatcher(client *asynq.Client, inspector *asynq.Inspector) *Dispatcher {
	return &Dispatcher{client: client, inspector: inspector}
}

// Dispatch enqueues intents. One whose task is there already is in order.
func (d *Dispatcher) Dispatch(ctx context.Context, intents []redisqueue.Intent) error {
	for _, i := range intents {
		if err := d.enqueue(ctx, i); err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
			return err
		}
	}
	return nil
}

func (d *Dispatcher) enqueue(ctx context.Context, i redisqueue.Intent) error {
	kind, queue, id := describe(i)
	options := []asynq.Option{asynq.MaxRetry(maxRetry)}
	switch {
	case i.Unit == redisqueue.UnitPublish: // what was paid for is not given up
		options[0] = asynq.MaxRetry(math.MaxInt32)
	case SharedLane(i.Lane): // others go with their process
		options = append(options, asynq.Retention(retention))
	}
	return d.put(ctx, kind, queue, id, payloadOf(i), options...)
}

// put enqueues one task. The error wraps asynq.ErrTaskIDConflict when there is one with this id.
func (d *Dispatcher) put(ctx context.Context, kind, queue, id string, content any, options ...asynq.Option) error {
	body, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("encode task %s: %w", id, err)
	}
	options = append(options, asynq.TaskID(id), asynq.Queue(queue), asynq.Timeout(taskTimeout))
	if _, err := d.client.EnqueueContext(ctx, asynq.NewTask(kind, body), options...); err != nil {
		return fmt.Errorf("enqueue task %s: %w", id, err)
	}
	return nil
}

// decodeTask reads what a task carries. One that carries something else is none of ours, however often it is tried.
func decodeTask(task *asynq.Task, into interface{ check() error }) error {
	err := json.Unmarshal(task.Payload(), into)
	if err == nil {
		err = into.check()
	}
	if err != nil {
		return givenUpError{fmt.Errorf("decode payload of %s task: %w", task.Type(), err)}
	}
	return nil
}

// feed puts runs that wait to be planned into the job queue, the oldest of the lane first, until it has so many tasks
// of them, or as many runs have begun as the workers have slots; slots: 0 = any number.
func (d *Dispatcher) feed(ctx context.Context, q *redisqueue.Queue, lane string, tasks, slots int) error {
	runs, err := q.Feed(ctx, lane, tasks, slots)
	if err != nil {
		return err
	}
	for _, runID := range runs {
		swept, err := q.Sweep(ctx, runID, false)
		if err != nil {
			return err
		}
		if err := d.heal(ctx, q, swept.Intents); err != nil {
			return err
		}
	}
	return nil
}

// heal enqueues intents that nobody works on.
func (d *Dispatcher) heal(ctx context.Context, q *redisqueue.Queue, intents []redisqueue.Intent) error {
	for _, i := range intents {
		if err := d.healOne(ctx, q, i); err != nil {
			return err
		}
	}
	return nil
}

// healOne enqueues an intent that nobody works on, and sees to it that a dead task of the same id does not hide it:
// asynq keeps archived tasks for months, and for ever those that were active when their worker died at the wrong
// moment.
func (d *Dispatcher) healOne(ctx context.Context, q *redisqueue.Queue, i redisqueue.Intent) error {
	err := d.enqueue(ctx, i)
	if !errors.Is(err, asynq.ErrTaskIDConflict) {
		return err
	}
	_, queue, id := describe(i)
	dead, active, err := d.dead(queue, id)
	if err != nil || !dead {
		return err
	}
	next, err := q.Advance(ctx, i, active)
	if err != nil {
		return err
	}
	return d.Dispatch(ctx, next)
}

// dead reports whether a task that exists may never run: one that is active may still end.
func (d *Dispatcher) dead(queue, id string) (dead, active bool, err error) {
	info, err := d.inspector.GetTaskInfo(queue, id)
	if errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound) {
		return false, false, nil // it ended meanwhile: the next sweep sees what came of it
	}
	if err != nil {
		return false, false, fmt.Errorf("look at task %s: %w", id, err)
	}
	switch info.State {
	case asynq.TaskStateActive, asynq.TaskStateArchived, asynq.TaskStateCompleted:
		return true, info.State == asynq.TaskStateActive, nil
	}
	return false, false, nil // it waits for its turn
}
