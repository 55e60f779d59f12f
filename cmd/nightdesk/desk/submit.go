package desk

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"nightdesk/cmd/nightdesk/bases"
	"nightdesk/cmd/nightdesk/estimate"
	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"strings"
	"time"
)

// submitChunk is the number of topics added to the queue at a time.
const submitChunk = 500

// Checked is a list of topics that was read and checked.
type Checked struct {
	List     *intake.List
	Plan     *intake.Plan
	Attached *bases.Attachment // nil: no documents
	Batch    string            // empty: a new one
}

// Submit adds the topics of a list to the queue. It calls queued for each run that is in the queue. The result has no
// runs.
func (d *Desk) Submit(ctx context.Context, o Checked, queued func(RunSummary) error) (done Enqueued, err error) {
	if err := d.Bases().PublishAll(ctx, d.Config.KBName, o.List); err != nil {
		return done, err
	}
	version, err := o.Attached.Publish(ctx)
	if err != nil {
		return done, err
	}
	for i := range o.List.Options {
		o.List.Options[i].Attached = version
	}
	now := d.Clock.Now()
	done.Batch = cmp.Or(o.Batch, NewBatchName("batch_", now))
	into, err := d.OpenBatch(ctx, done.Batch, now)
	if err != nil {
		return done, err
	}
	if err := estimate.WarnOfLimits(ctx, d.Config, d.Console, d.Desk, o.List, o.Plan, done.Batch); err != nil {
		return done, err
	}
	c := submitter{Desk: d, topics: o.Plan.Topics, done: &done, queued: queued,
		bar: view.NewBar(d.Console.Err, "enqueueing")}
	taken := 0
	err = o.Plan.Each(o.List, func(t intake.Topic) error {
		options := o.List.Options[t.Options]
		options.Deadline = t.Deadline
		// Creation times are 1 ms apart and end now, so that runs are listed and worked in the order of the file.
		at := now.Add(-time.Duration(o.Plan.Topics-1-taken) * time.Millisecond)
		taken++
		run := tasks.NewRun(into, t.Topic, options, t.Lane, topicqueue.Labels{Ref: t.Ref, Tags: t.Tags}, at)
		return c.add(ctx, run, t.Line)
	})
	if err == nil {
		err = c.flush(ctx)
	}
	c.bar.End()
	if err != nil {
		return done, err
	}
	if err = d.Queue.SealBatch(ctx, done.Batch); err != nil { // the digest follows the last report of a sealed batch
		err = view.Hint(err,
			fmt.Sprintf("All topics are in the queue; enqueue the file again with --batch %s for the digest.", done.Batch))
	}
	return done, err
}

// submitter adds runs to the queue in chunks.
type submitter struct {
	*Desk
	topics int // in all
	done   *Enqueued
	queued func(RunSummary) error
	bar    *view.Bar
	runs   []topicqueue.Run // the current chunk
	lines  []int            // of the topics of runs
}

func (c *submitter) add(ctx context.Context, run topicqueue.Run, line int) error {
	c.runs, c.lines = append(c.runs, run), append(c.lines, line)
	if len(c.runs) < submitChunk {
		return nil
	}
	return c.flush(ctx)
}

// flush adds the current chunk to the queue.
func (c *submitter) flush(ctx context.Context) error {
	if len(c.runs) == 0 {
		return nil
	}
	created, err := c.Dispatcher.EnqueueAll(ctx, c.Queue, c.runs)
	there := c.done.Created + c.done.Known // topics known to be in the queue
	for i, run := range c.runs {
		if created[i] {
			there++
		}
		if err != nil {
			continue
		}
		if created[i] {
			c.done.Created++
		} else {
			c.done.Known++
		}
		s := c.Summary(run)
		s.Line, s.Created = c.lines[i], &created[i]
		if err := c.queued(s); err != nil {
			return err
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		return view.Hint(fmt.Errorf("lines %d to %d: %w", c.lines[0], c.lines[len(c.lines)-1], err),
			fmt.Sprintf("At least %d of %s are in the queue; enqueue the file again with --batch %s to add the rest.", there,
				view.Counted(c.topics, "topic"), c.done.Batch))
	}
	c.bar.Set(c.done.Created+c.done.Known, c.topics, "")
	c.runs, c.lines = c.runs[:0], c.lines[:0]
	return nil
}

// NewBatchName returns a new name for a batch.
func NewBatchName(prefix string, now time.Time) string {
	return prefix + now.UTC().Format("20060102_150405") + "_" + strings.ToLower(rand.Text()[:6])
}

// Single enqueues a topic as the only run of a new batch. lane: empty for a lane with the name of the batch, which only
// a worker of this process serves.
func (d *Desk) Single(ctx context.Context, prefix, topic string, o topicqueue.Options, lane string) (
	topicqueue.Run, error) {
	now := d.Clock.Now()
	batch, err := d.OpenBatch(ctx, NewBatchName(prefix, now), now)
	if err != nil {
		return topicqueue.Run{}, err
	}
	return d.Dispatcher.Enqueue(ctx, d.Queue, batch, topic, o, cmp.Or(lane, batch.Name), now)
}

// OpenBatch creates a batch, or opens an existing one for further topics.
func (d *Desk) OpenBatch(ctx context.Context, name string, now time.Time) (redisqueue.Batch, error) {
	created, err := d.Queue.OpenBatch(ctx, name, now)
	return redisqueue.Batch{Name: name, CreatedAt: created}, err
}
