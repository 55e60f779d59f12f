package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Submission is a topic that was handed in.
type Submission struct {
	Run     topicqueue.Run `json:"run"`
	Created bool           `json:"created"` // false: the batch has this topic already
}

// maxTopicBytes bounds a topic: it stands in every prompt of its run.
const maxTopicBytes = 16 << 10

// CheckTopic says what is wrong with a topic, and nil when nothing is.
func CheckTopic(topic string) error {
	switch {
	case !utf8.ValidString(topic), strings.ContainsRune(topic, 0):
		return errors.New("the topic is not UTF-8 text")
	case topicqueue.TopicKey(topic) == "":
		return errors.New("the topic is empty; give a line or a paragraph that says what to research")
	case len(topic) > maxTopicBytes:
		return fmt.Errorf("the topic has %d bytes, but at most %d are allowed; put long material into a "+
			"knowledge base (--kb) and keep the topic short",
			len(topic), maxTopicBytes)
	}
	return nil
}

// NewRun returns the run of a topic in a batch, which is the same run whenever it is handed in: the one with this id in
// labels, else the one with this topic. now decides the order of runs.
func NewRun(batch redisqueue.Batch, topic string, options topicqueue.Options, lane string, labels topicqueue.Labels,
	now time.Time) topicqueue.Run {
	id := topicqueue.RunID(batch.Name, topic, "", batch.CreatedAt)
	if labels.Ref != "" {
		id = topicqueue.RunID(batch.Name, "", "id:"+labels.Ref, batch.CreatedAt)
	}
	return topicqueue.Run{ID: id, Batch: batch.Name, Topic: topic, Options: options, Lane: lane, Labels: labels,
		State: topicqueue.RunQueued, CreatedAt: now}
}

// Enqueue creates the run of one topic in a batch and puts its planning into the queue. The same topic in the same
// batch is the same run: enqueueing it again adds nothing.
func (d *Dispatcher) Enqueue(ctx context.Context, q *redisqueue.Queue, batch redisqueue.Batch, topic string,
	options topicqueue.Options, lane string, now time.Time) (Submission, error) {
	run := NewRun(batch, topic, options, lane, topicqueue.Labels{}, now)
	created, err := d.EnqueueAll(ctx, q, []topicqueue.Run{run})
	if err != nil {
		return Submission{}, err
	}
	return Submission{Run: run, Created: created[0]}, nil
}

// EnqueueAll is Enqueue for many runs of NewRun, several at a time. created: for each whether it is new. After an
// error some of them may exist, also some that created does not say; enqueueing them again adds the others.
func (d *Dispatcher) EnqueueAll(ctx context.Context, q *redisqueue.Queue,
	runs []topicqueue.Run) (created []bool, err error) {
	created = make([]bool, len(runs))
	var next atomic.Int64
	g, groupCtx := errgroup.WithContext(ctx)
	for range min(len(runs), enqueuers) {
		g.Go(func() error {
			for i := next.Add(1) - 1; int(i) < len(runs); i = next.Add(1) - 1 {
				var err error
				if created[i], err = q.Create(groupCtx, runs[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return created, err
	}
	workers, err := q.Workers(ctx)
	if err != nil {
		return created, err
	}
	lanes := map[string]bool{}
	for _, run := range runs {
		if lanes[run.Lane] {
			continue
		}
		lanes[run.Lane] = true
		if err := d.feed(ctx, q, run.Lane, firstTasks, workers.Slots); err != nil {
			return created, err
		}
	}
	return created, nil
}

const (
	// firstTasks is how many runs an enqueuer puts into the job queue itself, so that an idle worker has them at once; the
	// workers, who know how much they can do, see to the rest.
	firstTasks = 8
	// enqueuers is how many runs are created at a time: each takes several round trips.
	enqueuers = 8
)
