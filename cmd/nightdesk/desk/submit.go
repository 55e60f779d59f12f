package desk

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
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// submitChunk is the number of topics added to the queue at a time.
const submitChunk = 500

// Checked is a list of topics that was read and checked.
type Checked struct {
	List     *intake.List
	Attached *bases.Attachment // nil: no documents
	Batch    string            // empty: a new one
}

// Submit adds the topics of a list to the queue. It calls queued for each run that is in the queue. The result has no
// runs; its notes are about budgets and deadlines that do not suffice.
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
	if done.Notes, err = estimate.Shortages(ctx, d.Config, d.Desk, o.List, done.Batch); err != nil {
		return done, err
	}
	bar := view.NewBar(d.Console, "enqueueing")
	defer bar.End()
	topics, runs := o.List.Topics, []topicqueue.Run{}
	for i, t := range topics {
		options := o.List.Options[t.Options]
		options.Deadline = t.Deadline
		// Creation times are 1 ms apart and end now, so that runs are listed and worked in the order of the file.
		at := now.Add(-time.Duration(len(topics)-1-i) * time.Millisecond)
		runs = append(runs, tasks.NewRun(into, t.Topic, options, t.Lane, topicqueue.Labels{Ref: t.Ref, Tags: t.Tags}, at))
		if len(runs) < submitChunk && i < len(topics)-1 {
			continue
		}
		if err := d.add(ctx, &done, runs, topics[i+1-len(runs):i+1], queued); err != nil {
			return done, view.Hint(err, fmt.Sprintf("At least %d of %s are in the queue; enqueue the file again with "+
				"--batch %s to add the rest.", done.Created+done.Known, view.Counted(len(topics), "topic"), done.Batch))
		}
		bar.Set(done.Created+done.Known, len(topics), "")
		runs = runs[:0]
	}
	if err = d.Queue.SealBatch(ctx, done.Batch); err != nil { // the digest follows the last report of a sealed batch
		err = view.Hint(err,
			fmt.Sprintf("All topics are in the queue; enqueue the file again with --batch %s for the digest.", done.Batch))
	}
	return done, err
}

// add adds runs to the queue, and counts them.
func (d *Desk) add(ctx context.Context, done *Enqueued, runs []topicqueue.Run, topics []intake.Topic,
	queued func(RunSummary) error) error {
	created, err := d.Dispatcher.EnqueueAll(ctx, d.Queue, runs)
	for i, run := range runs {
		switch {
		case created[i]:
			done.Created++
		case err == nil:
			done.Known++
		}
		if err == nil {
			s := d.Summary(run)
			s.Line, s.Created = topics[i].Line, &created[i]
			if err := queued(s); err != nil {
				return err
			}
		}
	}
	if err != nil && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if err != nil {
		err = fmt.Errorf("lines %d to %d: %w", topics[0].Line, topics[len(topics)-1].Line, err)
	}
	return err
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
