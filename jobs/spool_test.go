package jobs_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nightdesk/jobs"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
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

// TestStorageAway: while the storage is unavailable, a run is researched and reported, but no complete bundle is
// visible. When the storage is back, the bundle is complete and valid.
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
	run := b.until(id, "not stored", func(r topicqueue.Run) bool { return r.Unpublished != "" })
	if run.State != topicqueue.RunCompleted {
		t.Errorf("state %s (%s) while the storage is away, want completed", run.State, run.Reason)
	}
	if keys, err := behind.List(t.Context(), ""); err != nil || len(keys) > 0 {
		t.Errorf("the storage has %q, %v", keys, err)
	}
	away.Store(false)
	b.wait(id)
	check, err := bundle.Verify(t.Context(), behind, id)
	if err != nil || len(check.Problems) > 0 || check.Claims == 0 {
		t.Errorf("%+v, %v", check, err)
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

// TestTextsAway: a report whose texts cannot be read for a while waits for them and is checked then. They may be
// unreadable because the storage is away, or because another machine has not stored them yet.
func TestTextsAway(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"storage": storage.ErrAway, "other machine": storage.ErrNotExist} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, redistest.InProcess(t), stubModel(t, &llmtest.Stub{Answer: goodAnswer}))
			behind := b.services.Store
			store := &pagesAway{Store: behind, err: err}
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
		})
	}
}

// TestSpoolLost: while the storage is unavailable, a machine keeps the texts of a run and then disappears. A second
// machine delays publishing. If the first one returns, the bundle is complete. If it does not, the run is partial and
// states the reason.
func TestSpoolLost(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	for name, back := range map[string]bool{"the machine comes back": true, "the machine is lost": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, redistest.InProcess(t), nil)
			var away atomic.Bool
			away.Store(true)
			behind, first := b.services.Store, t.TempDir()
			machine := func(dir string, now func() time.Time) *jobs.Worker {
				b.services.Store, b.services.Now = storage.NewSpool(awayStore{behind, &away}, dir), now
				return b.start(jobs.Settings{})
			}
			w := machine(first, time.Now)
			id := b.enqueue(topic, options(2, 2, 2), "")
			b.until(id, "not stored", func(run topicqueue.Run) bool { return run.Unpublished != "" })
			w.Stop()
			away.Store(false)
			w = machine(t.TempDir(), time.Now)
			b.until(id, "waits for the other machine", func(run topicqueue.Run) bool { return strings.Contains(run.Unpublished, "are on another machine") })
			if keys, err := behind.List(t.Context(), storage.ManifestKey(id)); err != nil || len(keys) > 0 {
				t.Errorf("the bundle claims to be whole: %q, %v", keys, err)
			}
			w.Stop()
			state, now := topicqueue.RunPartial, func() time.Time { return time.Now().Add(time.Hour) }
			if back {
				state, now = topicqueue.RunCompleted, time.Now
				defer machine(first, now).Stop()
			}
			defer machine(t.TempDir(), now).Stop()
			b.wait(id)
			check, err := bundle.Verify(t.Context(), behind, id)
			if err != nil || len(check.Problems) > 0 == back {
				t.Errorf("problems %v, %v", check.Problems, err)
			}
			run, m := b.run(id), b.metadata(id)
			if run.State != state || m.State != state || len(m.MissingTexts) > 0 == back || strings.Contains(run.Reason, "are lost") == back {
				t.Errorf("run %s (%s), metadata %s, missing %q; want %s", run.State, run.Reason, m.State, m.MissingTexts, state)
			}
		})
	}
}
