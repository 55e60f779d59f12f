package jobs_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"nightdesk/jobs"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// awayStore is a store that is away as long as it is told to be.
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

// TestStorageAway: while the storage is away a run is researched and reported, and nothing of it can be seen as whole;
// when the storage is back, its bundle is whole and can be proved.
func TestStorageAway(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.InProcess(t), nil)
	var away atomic.Bool
	away.Store(true)
	behind := b.services.Store
	b.services.Store = storage.NewSpool(awayStore{behind, &away}, t.TempDir())
	w := b.start(jobs.Settings{})
	defer w.Stop()
	id := b.enqueue(topic, options(2, 2, 2), "")
	for run := b.run(id); run.Unpublished == ""; run = b.run(id) {
		time.Sleep(time.Millisecond)
	}
	if run := b.run(id); run.State != topicqueue.RunCompleted {
		t.Errorf("state %s (%s) while the storage is away, want completed", run.State, run.Reason)
	}
	if keys, err := behind.List(t.Context(), ""); err != nil || len(keys) > 0 {
		t.Errorf("the storage has %q, %v", keys, err)
	}
	away.Store(false)
	b.wait(id)
	check, err := jobs.CheckBundle(t.Context(), behind, id)
	if err != nil || len(check.Problems) > 0 || check.Claims == 0 {
		t.Errorf("%+v, %v", check, err)
	}
}
