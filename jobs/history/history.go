// Package history keeps the nights of a topic in storage, and readers' remarks about their reports.
//
// A topic is identified by recurring.Key. Nights of a topic therefore have the same topic, knowledge base and tools,
// whether or not they build on each other. Entry points: Record and Nights, Remark and Remarks; Due returns the remarks
// for the next report.
package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"nightdesk/pipeline/recurring"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// Night is an ended run of a topic.
type Night struct {
	RunID     string              `json:"run_id"`
	Batch     string              `json:"batch"`
	Topic     string              `json:"topic"`
	State     topicqueue.RunState `json:"state"`
	Reason    string              `json:"reason,omitempty"`
	CreatedAt time.Time           `json:"created_at"`
	StartedAt time.Time           `json:"started_at"`
	EndedAt   time.Time           `json:"ended_at"`
}

// KeyOf returns the key of a run's topic.
func KeyOf(run topicqueue.Run) string { return recurring.Key(run.Topic, run.Options) }

// Record stores an ended run as a night of its topic. Recording it again replaces it.
func Record(ctx context.Context, store storage.Store, run topicqueue.Run) error {
	body, err := json.Marshal(Night{RunID: run.ID, Batch: run.Batch, Topic: run.Topic, State: run.State,
		Reason: run.Reason, CreatedAt: run.CreatedAt, StartedAt: run.StartedAt, EndedAt: run.EndedAt})
	if err != nil {
		return fmt.Errorf("encode the history entry of run %s: %w", run.ID, err)
	}
	return store.Put(ctx, storage.TopicNightKey(KeyOf(run), run.ID), body)
}

// Nights returns the newest nights of a topic, newest first, and the total number. limit: maximum number to return.
func Nights(ctx context.Context, store storage.Store, key string, limit int) (nights []Night, total int, err error) {
	keys, err := store.List(ctx, storage.TopicNights(key)) // ids of runs begin with their time
	if err != nil {
		return nil, 0, err
	}
	slices.Reverse(keys)
	nights, err = readAll[Night](ctx, store, keys[:min(limit, len(keys))])
	return nights, len(keys), err
}

// readAll reads JSON documents in the order of their keys. Documents deleted meanwhile are omitted.
func readAll[T any](ctx context.Context, store storage.Store, keys []string) ([]T, error) {
	all := make([]*T, len(keys))
	err := storage.Each(ctx, len(keys), func(ctx context.Context, i int) error {
		v, err := storage.GetJSON[T](ctx, store, keys[i])
		if errors.Is(err, storage.ErrNotExist) {
			return nil
		}
		all[i] = &v
		return err
	})
	out := []T{}
	for _, v := range all {
		if v != nil {
			out = append(out, *v)
		}
	}
	return out, err
}

// before returns the last night of a topic before a run; false if there is none.
func before(ctx context.Context, store storage.Store, key, runID string) (Night, bool, error) {
	keys, err := store.List(ctx, storage.TopicNights(key))
	if err != nil {
		return Night{}, false, err
	}
	for _, at := range slices.Backward(keys) {
		if strings.TrimSuffix(path.Base(at), ".json") >= runID {
			continue
		}
		found, err := readAll[Night](ctx, store, []string{at})
		if err != nil || len(found) > 0 {
			return cmp.Or(slices.Concat(found, []Night{{}})[0]), err == nil, err
		}
	}
	return Night{}, false, nil
}
