package intake

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// batchRuns are the runs already in a batch when a list is enqueued into it.
type batchRuns struct {
	batch redisqueue.Batch
	ids   map[string]bool
}

// has reports whether the run of a topic is in the batch.
func (b batchRuns) has(t Topic) bool {
	if len(b.ids) == 0 {
		return false
	}
	run := tasks.NewRun(b.batch, t.Topic, topicqueue.Options{}, "", topicqueue.Labels{Ref: t.Ref}, time.Time{})
	return b.ids[run.ID]
}

// readBatch reads the topics of the batch, if it exists.
func (r *listReader) readBatch(ctx context.Context) (err error) {
	if r.Batch == "" || r.Queue == nil {
		return nil
	}
	r.there.batch, err = r.Queue.Batch(ctx, r.Batch)
	if errors.Is(err, redisqueue.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	r.there.ids = map[string]bool{}
	return r.Queue.Runs(ctx, r.Batch, func(run topicqueue.Run) error {
		r.there.ids[run.ID] = true
		r.similar(run.Topic, run.Options, fmt.Sprintf("%s of batch %s", run.ID, r.Batch))
		return nil
	})
}

// similar returns the name of an earlier topic that is nearly the same as one called name, or "".
func (r *listReader) similar(topic string, o topicqueue.Options, name string) string {
	key := topicqueue.TitleKey(topic)
	if key == "" { // it has no words
		return ""
	}
	key = scopeOf(o) + "\x00" + key
	if first := r.titles[key]; first != "" {
		return first
	}
	r.titles[key] = name
	return ""
}

// scopeOf returns the scope in which a topic is researched. The same topic in another scope is a different report.
func scopeOf(o topicqueue.Options) string {
	return strings.Join(append([]string{o.Language, o.KnowledgeBase}, o.Tools...), "\x00")
}
