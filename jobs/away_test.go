package jobs_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"nightdesk/jobs"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// awayStore is a store that can be made unavailable.
type awayStore struct {
	storage.Store
	away *atomic.Bool
}

func (s awayStore) state() error {
	if s.away.Load() {
		return storage.ErrAway
	}
	return nil
}

func (s awayStore) Put(ctx context.Context, key string, body []byte) error {
	if err := s.state(); err != nil {
		return err
	}
	return s.Store.Put(ctx, key, body)
}

func (s awayStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := s.state(); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, key)
}

func (s awayStore) Exists(ctx context.Context, key string) (bool, error) {
	if err := s.state(); err != nil {
		return false, err
	}
	return s.Store.Exists(ctx, key)
}

func (s awayStore) Delete(ctx context.Context, key string) error {
	if err := s.state(); err != nil {
		return err
	}
	return s.Store.Delete(ctx, key)
}

func (s awayStore) List(ctx context.Context, prefix string) ([]string, error) {
	if err := s.state(); err != nil {
		return nil, err
	}
	return s.Store.List(ctx, prefix)
}

// TestStorageAway: a run waits while the storage is unavailable, and nothing is lost: when it is back, the run is
// completed and its bundle is complete and valid.
func TestStorageAway(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.InProcess(t), nil)
	var away atomic.Bool
	away.Store(true)
	behind := b.services.Store
	b.services.Store = awayStore{behind, &away}
	w := b.start(jobs.Settings{})
	defer w.Stop()
	id := b.enqueue(topic, options(2, 2, 2), "")
	b.until(id, "in progress", func(r topicqueue.Run) bool { return r.State == topicqueue.RunPlanning })
	away.Store(false)
	b.wait(id)
	check, err := bundle.Verify(t.Context(), behind, id)
	if err != nil || len(check.Problems) > 0 || check.Claims == 0 {
		t.Errorf("%+v, %v", check, err)
	}
	if run := b.run(id); run.State != topicqueue.RunCompleted {
		t.Errorf("state %s (%s)", run.State, run.Reason)
	}
}

// pagesAway is a store without texts while away is set.
type pagesAway struct {
	storage.Store
	away atomic.Int64 // number of reads that still fail
	err  error
}

func (s *pagesAway) Get(ctx context.Context, key string) ([]byte, error) {
	if strings.Contains(key, "/pages/") && s.away.Add(-1) >= 0 {
		return nil, s.err
	}
	return s.Store.Get(ctx, key)
}

// TestTextsAway: a report whose texts cannot be read for a while waits for them and is checked then.
func TestTextsAway(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.InProcess(t), stubModel(t, &llmtest.Stub{Answer: goodAnswer}))
	behind := b.services.Store
	store := &pagesAway{Store: behind, err: storage.ErrAway}
	store.away.Store(3)
	b.services.Store = store
	w := b.start(jobs.Settings{})
	defer w.Stop()
	id := b.enqueue(topic, options(2, 2, 2), "")
	b.wait(id)
	check, err := bundle.Verify(t.Context(), behind, id)
	if err != nil || len(check.Problems) > 0 || check.Sentences == 0 || store.away.Load() >= 0 {
		t.Errorf("%+v, %v, %d reads left", check, err, store.away.Load())
	}
	var record struct{ Verification checking.Verification }
	body, err := behind.Get(t.Context(), storage.MetadataKey(id))
	if v := &record.Verification; json.Unmarshal(body, &record) != nil || v.Status != verification.StatusVerified ||
		v.Counts.SourcesUnread > 0 || v.Counts.Sentences == 0 {
		t.Errorf("%v, %+v", err, v)
	}
}
