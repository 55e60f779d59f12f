package intake

import (
	"context"
	"errors"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// batchTopics holds the topics already in a batch when a list is enqueued into it.
type batchTopics struct {
	batch  redisqueue.Batch
	topics []Topic         // with run ids as Ref
	runs   map[string]bool // ids of the runs
}

// has reports whether the run of a topic is in the batch. The receiver may be nil.
func (b *batchTopics) has(t Topic) bool {
	if b == nil {
		return false
	}
	run := tasks.NewRun(b.batch, t.Topic, topicqueue.Options{}, "", topicqueue.Labels{Ref: t.Ref}, time.Time{})
	return b.runs[run.ID]
}

// size returns the number of topics in the batch. The receiver may be nil.
func (b *batchTopics) size() int {
	if b == nil {
		return 0
	}
	return len(b.topics)
}

// readBatch reads the topics of a batch and adds them to similar. It returns nil if the batch does not exist.
func readBatch(ctx context.Context, cfg config.Config, con *view.Console, f Request,
	similar *topicqueue.Duplicates) (b *batchTopics, err error) {
	queue, name := f.Queue, f.Batch
	if queue == nil {
		d, err := wiring.OpenDesk(ctx, cfg, con, false)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		queue = d.Queue
	}
	batch, err := queue.Batch(ctx, name)
	if errors.Is(err, redisqueue.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b = &batchTopics{batch: batch, runs: map[string]bool{}}
	err = queue.Runs(ctx, name, func(run topicqueue.Run) error {
		b.runs[run.ID] = true
		similar.Add(run.Topic, scopeOf(run.Options))
		b.topics = append(b.topics, Topic{Topic: run.Topic, Ref: run.ID})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// scopeOf returns the scope in which a topic is researched. The same topic in another scope is a different report.
func scopeOf(o topicqueue.Options) string {
	return strings.Join(append([]string{o.Language, o.KnowledgeBase}, o.Tools...), "\x00")
}
