package intake

import (
	"context"
	"errors"
	"hash/maphash"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// batchTopics holds the topics already in a batch when a list is enqueued into it. Like List, it uses few bytes per
// topic.
type batchTopics struct {
	batch redisqueue.Batch
	spool *spool              // topics, with run ids as Ref
	runs  map[uint64]struct{} // hashes of the run ids
	seed  maphash.Seed
}

// Close removes the spool. The receiver may be nil.
func (b *batchTopics) Close() error {
	if b == nil {
		return nil
	}
	return b.spool.Close()
}

// has reports whether the run of a topic is in the batch. The receiver may be nil.
func (b *batchTopics) has(t Topic) bool {
	if b == nil {
		return false
	}
	run := tasks.NewRun(b.batch, t.Topic, topicqueue.Options{}, "", topicqueue.Labels{Ref: t.Ref}, time.Time{})
	_, ok := b.runs[maphash.String(b.seed, run.ID)]
	return ok
}

// size returns the number of topics in the batch. The receiver may be nil.
func (b *batchTopics) size() int {
	if b == nil {
		return 0
	}
	return len(b.spool.ends)
}

// readBatch reads the topics of a batch and adds them to similar. It returns nil if the batch does not exist.
func readBatch(ctx context.Context, cfg config.Config, con *view.Console, name string,
	similar *topicqueue.Duplicates) (b *batchTopics, err error) {
	d, err := wiring.OpenDesk(ctx, cfg, con, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	batch, err := d.Queue.Batch(ctx, name)
	if errors.Is(err, redisqueue.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b = &batchTopics{batch: batch, runs: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
	if b.spool, err = newSpool(); err != nil {
		return nil, err
	}
	err = d.Queue.Runs(ctx, name, func(run topicqueue.Run) error {
		b.runs[maphash.String(b.seed, run.ID)] = struct{}{}
		similar.Add(run.Topic, scopeOf(run.Options))
		return b.spool.add(Topic{Topic: run.Topic, Ref: run.ID})
	})
	if err == nil {
		err = b.spool.flush()
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// scopeOf returns the scope in which a topic is researched. The same topic in another scope is a different report.
func scopeOf(o topicqueue.Options) string {
	return strings.Join(append([]string{o.Language, o.KnowledgeBase}, o.Tools...), "\x00")
}
