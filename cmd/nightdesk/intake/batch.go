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
	titles titles
}

// has reports whether the run of a topic is in the batch. The receiver may be nil.
func (b *batchTopics) has(t Topic) bool {
	if b == nil {
		return false
	}
	run := tasks.NewRun(b.batch, t.Topic, topicqueue.Options{}, "", topicqueue.Labels{Ref: t.Ref}, time.Time{})
	return b.runs[run.ID]
}

// readBatch reads the topics of a batch. It returns nil if the batch does not exist.
func readBatch(ctx context.Context, cfg config.Config, con *view.Console, f Request) (b *batchTopics, err error) {
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
	b = &batchTopics{batch: batch, runs: map[string]bool{}, titles: titles{}}
	err = queue.Runs(ctx, name, func(run topicqueue.Run) error {
		b.runs[run.ID] = true
		b.titles.enter(titleKey(run.Topic, scopeOf(run.Options)), len(b.topics))
		b.topics = append(b.topics, Topic{Topic: run.Topic, Ref: run.ID})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// titles holds the index of the first topic of each title, by titleKey.
type titles map[string]int32

// titleKey identifies topics that are nearly the same in one scope; empty for a topic without words.
func titleKey(topic, scope string) string {
	if key := topicqueue.TitleKey(topic); key != "" {
		return scope + "\x00" + key
	}
	return ""
}

// enter records topic i unless an earlier one has the same key, whose index it returns; otherwise -1.
func (t titles) enter(key string, i int) int32 {
	if first, known := t[key]; known {
		return first
	}
	if key != "" {
		t[key] = int32(i)
	}
	return -1
}

// scopeOf returns the scope in which a topic is researched. The same topic in another scope is a different report.
func scopeOf(o topicqueue.Options) string {
	return strings.Join(append([]string{o.Language, o.KnowledgeBase}, o.Tools...), "\x00")
}
