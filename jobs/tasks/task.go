// Package tasks is how nightdesk uses asynq: the kinds of tasks, their queues and ids, and how they are enqueued.
//
// A task is a wake-up call that carries ids. The same piece of work always has the same task id, so that enqueueing it
// again adds nothing. What a worker does with a task is in package jobs.
//
// Entry points: [Dispatcher], [Controls] and [NewRun].
package tasks

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
	KindDigest  = "batch:digest" // belongs to no run: generation and state belong to the batch
	KindWebhook = "notify:webhook"
	KindMail    = "notify:mail"
)

// Queues, one per stage. The lane of the run is appended, see QueueName.
const (
	QueuePlanning    = "planning"
	QueueResearching = "researching"
	QueueReporting   = "reporting"
)

// Lanes that every worker serves, besides the shared lane "", whose priority is between them.
const (
	LaneHigh = "high"
	LaneLow  = "low"
)

// SharedLane reports whether every worker serves a lane. All other lanes are private to one process.
func SharedLane(lane string) bool { return lane == LaneHigh || lane == "" || lane == LaneLow }

const (
	// MaxRetry is the number of retries after errors of our own services (Redis, storage) and after crashes. Model
	// errors are not counted.
	MaxRetry = 4
	// retention is how long a completed task stays visible, with its result.
	retention = 24 * time.Hour
	// taskTimeout exceeds every other limit, because asynq restarts a task that has timed out even while it still runs.
	taskTimeout = 24 * time.Hour
)

// Payload is the content of a task that works on a run. Descriptive fields come first because dashboards cut long
// payloads.
type Payload struct {
	Topic      string `json:"topic,omitempty"` // shortened, like title and batch
	Title      string `json:"title,omitempty"` // of the block
	Batch      string `json:"batch,omitempty"`
	Unit       string `json:"unit"` // unit of the run, see redisqueue: plan, review, ... or a block id
	Generation int    `json:"generation"`
	RunID      string `json:"run_id"`
}

// Maximum bytes of the texts in a payload. They are short because each heartbeat of asynq writes the payloads of all
// active tasks.
const (
	aboutTopic = 160
	aboutTitle = 100
	aboutBatch = 60
)

func payloadOf(i redisqueue.Intent) Payload {
	short := func(text string, limit int) string { return topicqueue.Clip(topicqueue.OneLine(text), limit) }
	return Payload{Topic: short(i.About.Topic, aboutTopic), Title: short(i.About.Title, aboutTitle),
		Batch: short(i.About.Batch, aboutBatch), Unit: i.Unit, Generation: i.Generation, RunID: i.RunID}
}

func (p *Payload) check() error {
	if p.RunID == "" || p.Unit == "" {
		return errors.New("run_id and unit are needed")
	}
	return nil
}

// QueueName returns the queue of a stage for a lane: "planning-high".
func QueueName(stage, lane string) string {
	if lane == "" {
		return stage
	}
	return stage + "-" + lane
}

// describe returns the kind, queue and task id of an intent. The same intent always gets the same id.
func describe(i redisqueue.Intent) (kind, queue, id string) {
	generation := strconv.Itoa(i.Generation)
	switch i.Unit {
	case redisqueue.UnitPlan:
		stage := QueuePlanning
		if i.Begun && i.Generation > 1 { // runs before runs that have not begun; its first task no longer exists
			stage = QueueResearching
		}
		return KindPlan, QueueName(stage, i.Lane), "plan:" + i.RunID + ":" + generation
	case redisqueue.UnitReview: // generations continue from one loop to the next
		return KindReview, QueueName(QueueReporting, i.Lane), "review:" + i.RunID + ":" + generation
	case redisqueue.UnitReport:
		return KindReport, QueueName(QueueReporting, i.Lane), "report:" + i.RunID + ":" + generation
	case redisqueue.UnitNarrate:
		return KindNarrate, QueueName(QueueReporting, i.Lane), "narrate:" + i.RunID + ":" + generation
	case redisqueue.UnitPublish:
		return KindPublish, QueueName(QueueReporting, i.Lane), "publish:" + i.RunID + ":" + generation
	}
	if i.Path == topicqueue.PathShallow {
		return KindAnswer, QueueName(QueueResearching, i.Lane), "answer:" + i.RunID + ":" + generation
	}
	return KindBlock, QueueName(QueueResearching, i.Lane), "block:" + i.RunID + ":" + i.Unit + ":" + generation
}

// Dispatcher enqueues intents as asynq tasks.
type Dispatcher struct {
	client    *asynq.Client
	inspector *asynq.Inspector
	wanted    []string // types of events to announce
	webhooks  []string // keys of the webhooks that receive them
	mail      bool     // whether digests are mailed
}

// NewDispatcher returns a dispatcher that uses client and inspector, which use the queue's Redis. The caller closes its
// connection.
func NewDispatcher(client *asynq.Client, inspector *asynq.Inspector) *Dispatcher {
	return &Dispatcher{client: client, inspector: inspector}
}

// Dispatch enqueues intents. An intent whose task already exists is skipped.
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
	options := []asynq.Option{asynq.MaxRetry(MaxRetry)}
	switch {
	case i.Unit == redisqueue.UnitPublish: // paid results are never given up
		options[0] = asynq.MaxRetry(math.MaxInt32)
	case SharedLane(i.Lane): // tasks of private lanes disappear with their process
		options = append(options, asynq.Retention(retention))
	}
	return d.put(ctx, kind, queue, id, payloadOf(i), options...)
}

// put enqueues one task. The error wraps asynq.ErrTaskIDConflict when a task with this id exists.
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

// Decode decodes the payload of a task. An invalid payload is never retried.
func Decode(task *asynq.Task, into interface{ check() error }) error {
	err := json.Unmarshal(task.Payload(), into)
	if err == nil {
		err = into.check()
	}
	if err != nil {
		return GiveUp(fmt.Errorf("decode payload of %s task: %w", task.Type(), err))
	}
	return nil
}

// Feed moves waiting runs of a lane into the job queue, oldest first. It stops when tasks of these runs are queued
// there, or when as many runs have begun as the workers have slots. slots: 0 = no limit.
func (d *Dispatcher) Feed(ctx context.Context, q *redisqueue.Queue, lane string, tasks, slots int) error {
	runs, err := q.Feed(ctx, lane, tasks, slots)
	if err != nil {
		return err
	}
	for _, runID := range runs {
		swept, err := q.Sweep(ctx, runID, false)
		if err != nil {
			return err
		}
		if err := d.Heal(ctx, q, swept.Intents); err != nil {
			return err
		}
	}
	return nil
}

// Heal enqueues intents that no worker is working on.
func (d *Dispatcher) Heal(ctx context.Context, q *redisqueue.Queue, intents []redisqueue.Intent) error {
	for _, i := range intents {
		if err := d.healOne(ctx, q, i); err != nil {
			return err
		}
	}
	return nil
}

// healOne enqueues an intent that no worker is working on. If a dead task has the same id, it advances the intent to a
// new generation. asynq keeps archived tasks for months, and keeps active tasks forever if their worker died at the
// wrong moment.
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

// LastError returns the error with which a task was tried last.
func (d *Dispatcher) LastError(queue, id string) (string, error) {
	info, err := d.inspector.GetTaskInfo(queue, id)
	if err != nil {
		return "", fmt.Errorf("look at task %s: %w", id, err)
	}
	return info.LastErr, nil
}

// givenUpError marks a task that asynq archives at once. Its text is that of the wrapped error.
type givenUpError struct{ error }

// GiveUp returns an error for which asynq archives a task at once.
func GiveUp(why error) error { return givenUpError{why} }

// Unwrap adds asynq's marker error.
func (e givenUpError) Unwrap() []error { return []error{e.error, asynq.SkipRetry} }

// Revoked returns the outcome of a task that leaves nothing, because it was not needed or its work is handed on.
func Revoked(why error) error { return fmt.Errorf("%w: %w", why, asynq.RevokeTask) }

// dead reports whether an existing task may never run again. An active task may still end.
func (d *Dispatcher) dead(queue, id string) (dead, active bool, err error) {
	info, err := d.inspector.GetTaskInfo(queue, id)
	if errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound) {
		return false, false, nil // it has ended meanwhile; the next sweep sees its result
	}
	if err != nil {
		return false, false, fmt.Errorf("look at task %s: %w", id, err)
	}
	switch info.State {
	case asynq.TaskStateActive, asynq.TaskStateArchived, asynq.TaskStateCompleted:
		return true, info.State == asynq.TaskStateActive, nil
	}
	return false, false, nil // waiting for its turn
}
