package history

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// Maximum size of a remark's fields in bytes, and maximum number of remarks given to the writers of a report.
const (
	MaxWords    = 2000
	MaxSentence = 2000
	MaxBy       = 100
	maxDue      = 20
)

// ErrNoWords means that a remark is empty.
var ErrNoWords = fmt.Errorf("the remark is empty")

// Remark stores a reader's remark about the report of a run. Fields beyond the limits are cut. The error is ErrNoWords
// or the store's.
func Remark(ctx context.Context, store storage.Store, run topicqueue.Run, r topicqueue.Remark) error {
	r.RunID, r.At = run.ID, r.At.UTC()
	r.By = topicqueue.Clip(topicqueue.OneLine(r.By), MaxBy)
	r.Sentence = topicqueue.Clip(topicqueue.OneLine(r.Sentence), MaxSentence)
	if r.Words = topicqueue.Clip(strings.TrimSpace(r.Words), MaxWords); r.Words == "" {
		return ErrNoWords
	}
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode a remark about run %s: %w", run.ID, err)
	}
	name := r.At.Format("20060102_150405.000") + "_" + strings.ToLower(rand.Text()[:8]) + ".json"
	return store.Put(ctx, storage.TopicRemarks(KeyOf(run), run.ID)+name, body)
}

// Remarks returns readers' remarks about the report of a run, oldest first.
func Remarks(ctx context.Context, store storage.Store, run topicqueue.Run) ([]topicqueue.Remark, error) {
	keys, err := store.List(ctx, storage.TopicRemarks(KeyOf(run), run.ID))
	if err != nil {
		return nil, err
	}
	return readAll[topicqueue.Remark](ctx, store, keys)
}

// Due returns the remarks that the report of a run should take into account. These are remarks about earlier reports on
// its topic, made since the last of these runs began; that run considered the earlier ones. It returns at most the
// newest 20, oldest first.
func Due(ctx context.Context, store storage.Store, run topicqueue.Run) ([]topicqueue.Remark, error) {
	key := KeyOf(run)
	keys, err := store.List(ctx, storage.TopicRemarks(key, ""))
	keys = slices.DeleteFunc(keys, func(at string) bool { return storage.TopicRun(at) >= run.ID })
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	last, known, err := before(ctx, store, key, run.ID)
	if err != nil {
		return nil, err
	}
	all, err := readAll[topicqueue.Remark](ctx, store, keys)
	if err != nil {
		return nil, err
	}
	due := slices.DeleteFunc(all, func(r topicqueue.Remark) bool { return known && !r.At.After(last.StartedAt) })
	slices.SortStableFunc(due, func(a, b topicqueue.Remark) int { return a.At.Compare(b.At) })
	return due[max(0, len(due)-maxDue):], nil
}

// Said formats the author and date of a remark.
func Said(r topicqueue.Remark) string {
	if r.By == "" {
		return r.At.UTC().Format(time.DateOnly)
	}
	return r.By + ", " + r.At.UTC().Format(time.DateOnly)
}
