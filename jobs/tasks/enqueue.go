package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// maxTopicBytes is the maximum length of a topic, which is part of every prompt of its run.
const maxTopicBytes = 16 << 10

// CheckTopic returns an error that describes why a topic is invalid, or nil.
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

// NewRun returns the run of a topic in a batch. Submitting the topic again gives the same run, identified by the id in
// labels, or else by the topic. now determines the order of runs.
func NewRun(batch redisqueue.Batch, topic string, options topicqueue.Options, lane string, labels topicqueue.Labels,
	now time.Time) topicqueue.Run {
	id := topicqueue.RunID(batch.Name, topic, "", batch.CreatedAt)
	if labels.Ref != "" {
		id = topicqueue.RunID(batch.Name, "", "id:"+labels.Ref, batch.CreatedAt)
	}
	return topicqueue.Run{ID: id, Batch: batch.Name, Topic: topic, Options: options, Lane: lane, Labels: labels,
		State: topicqueue.RunQueued, CreatedAt: now}
}

// Enqueue creates the run of one topic in a batch and queues its planning. The same topic in the same batch is the same
// run, so enqueueing it again adds nothing.
func (d *Dispatcher) Enqueue(ctx context.Context, q *redisqueue.Queue, batch redisqueue.Batch, topic string,
	options topicqueue.Options, lane string, now time.Time) (topicqueue.Run, error) {
	run := NewRun(batch, topic, options, lane, topicqueue.Labels{}, now)
	_, err := d.EnqueueAll(ctx, q, []topicqueue.Run{run})
	return run, err
}

// EnqueueAll enqueues many runs of NewRun, several in parallel. created reports for each run whether it is new. After
// an error some of the runs may exist, including runs not marked in created; enqueueing them again adds the others.
func (d *Dispatcher) EnqueueAll(ctx context.Context, q *redisqueue.Queue,
	runs []topicqueue.Run) (created []bool, err error) {
	created = make([]bool, len(runs))
	g, groupCtx := errgroup.WithContext(ctx)
	g.SetLimit(enqueuers)
	for i, run := range runs {
		g.Go(func() (err error) {
			created[i], err = q.Create(groupCtx, run)
			return err
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
		if err := d.Feed(ctx, q, run.Lane, firstTasks, workers.Slots); err != nil {
			return created, err
		}
	}
	return created, nil
}

const (
	// firstTasks is how many runs an enqueuer puts into the job queue itself, so that an idle worker gets them at once.
	// The workers, which know their capacity, add the rest.
	firstTasks = 8
	// enqueuers is how many runs are created in parallel; each takes several round trips.
	enqueuers = 8
)
