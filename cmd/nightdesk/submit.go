package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/bases"
	"nightdesk/cmd/nightdesk/estimate"
	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// submitChunk is the number of topics added to the queue at a time.
const submitChunk = 500

// order is a checked list of topics that is to be enqueued.
type order struct {
	list     *intake.List
	plan     *intake.Plan
	attached *bases.Attachment // nil: no documents
	batch    string            // empty: a new one
	// queued is called for each run that is in the queue. line is the number of its topic in the list; created is false
	// if the run was there before.
	queued func(run topicqueue.Run, line int, created bool) error
}

// submit adds the topics of an order to the queue. It returns the name of the batch and the number of new runs.
func submit(ctx context.Context, s *session, d *wiring.Desk, o order) (batch string, added int, err error) {
	if err := newBases(s).PublishAll(ctx, s.cfg.KBName, o.list); err != nil {
		return "", 0, err
	}
	version, err := o.attached.Publish(ctx)
	if err != nil {
		return "", 0, err
	}
	for i := range o.list.Options {
		o.list.Options[i].Attached = version
	}
	now := d.Clock.Now()
	batch = cmp.Or(o.batch, newBatchName("batch_", now))
	into, err := openBatch(ctx, d, batch, now)
	if err != nil {
		return batch, 0, err
	}
	if err := estimate.WarnOfLimits(ctx, s.cfg, s.Console, d, o.list, o.plan, batch); err != nil {
		return batch, 0, err
	}
	c := submitter{order: o, desk: d, batch: batch, bar: view.NewBar(s.Err, "enqueueing")}
	taken := 0
	err = o.plan.Each(o.list, func(t intake.Topic) error {
		options := o.list.Options[t.Options]
		options.Deadline = t.Deadline
		// Creation times are 1 ms apart and end now, so that runs are listed and worked in the order of the file.
		at := now.Add(-time.Duration(o.plan.Topics-1-taken) * time.Millisecond)
		taken++
		run := tasks.NewRun(into, t.Topic, options, t.Lane, topicqueue.Labels{Ref: t.Ref, Tags: t.Tags}, at)
		return c.add(ctx, run, t.Line)
	})
	if err == nil {
		err = c.flush(ctx)
	}
	c.bar.End()
	if err != nil {
		return batch, c.added, err
	}
	if err := d.Queue.SealBatch(ctx, batch); err != nil { // the digest follows the last report of a sealed batch
		err = view.Hint(err,
			fmt.Sprintf("All topics are in the queue; enqueue the file again with --batch %s for the digest.", batch))
		return batch, c.added, err
	}
	return batch, c.added, nil
}

// submitter adds runs to the queue in chunks.
type submitter struct {
	order
	desk        *wiring.Desk
	batch       string
	bar         *view.Bar
	runs        []topicqueue.Run // the current chunk
	lines       []int            // of the topics of runs
	done, added int              // runs in the queue, and those of them that are new
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
	created, err := c.desk.Dispatcher.EnqueueAll(ctx, c.desk.Queue, c.runs)
	there := c.done // topics known to be in the queue
	for i, run := range c.runs {
		if created[i] {
			c.added++
			there++
		}
		if err == nil {
			if err := c.queued(run, c.lines[i], created[i]); err != nil {
				return err
			}
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		return view.Hint(fmt.Errorf("lines %d to %d: %w", c.lines[0], c.lines[len(c.lines)-1], err),
			fmt.Sprintf("At least %d of %s are in the queue; enqueue the file again with --batch %s to add the rest.", there,
				view.Counted(c.plan.Topics, "topic"), c.batch))
	}
	c.done += len(c.runs)
	c.bar.Set(c.done, c.plan.Topics, "")
	c.runs, c.lines = c.runs[:0], c.lines[:0]
	return nil
}

// newBatchName returns a new name for a batch.
func newBatchName(prefix string, now time.Time) string {
	return prefix + now.UTC().Format("20060102_150405") + "_" + strings.ToLower(rand.Text()[:6])
}

// openBatch creates a batch, or opens an existing one for further topics.
func openBatch(ctx context.Context, d *wiring.Desk, name string, now time.Time) (redisqueue.Batch, error) {
	created, err := d.Queue.OpenBatch(ctx, name, now)
	return redisqueue.Batch{Name: name, CreatedAt: created}, err
}

// plainLetters have no special meaning in Redis, storage or a shell.
const plainLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// checkBatchName restricts batch names, because they are part of Redis and storage keys.
func checkBatchName(name string) error {
	ok := name != "" && len(name) <= 100 && name[0] != '.'
	for _, r := range name {
		ok = ok && strings.ContainsRune(plainLetters+"-_.", r)
	}
	if !ok {
		return view.Usage(fmt.Errorf("batch name %q: use at most 100 characters: letters, digits, - _ and dots, not "+
			"beginning with a dot", name))
	}
	return nil
}
