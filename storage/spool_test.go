package storage_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"nightdesk/storage"
	"nightdesk/storage/storagetest"
)

// outage is a store that can be away.
type outage struct {
	storage.Store
	away atomic.Bool
}

func (o *outage) state() error {
	if o.away.Load() {
		return storage.ErrAway
	}
	return nil
}

func (o *outage) Put(ctx context.Context, key string, body []byte) error {
	return errors.Join(o.state(), call(o, func() error { return o.Store.Put(ctx, key, body) }))
}

func (o *outage) Get(ctx context.Context, key string) ([]byte, error) {
	if err := o.state(); err != nil {
		return nil, err
	}
	return o.Store.Get(ctx, key)
}

func (o *outage) Exists(ctx context.Context, key string) (bool, error) {
	if err := o.state(); err != nil {
		return false, err
	}
	return o.Store.Exists(ctx, key)
}

func call(o *outage, do func() error) error {
	if o.away.Load() {
		return nil
	}
	return do()
}

// TestSpool: what may wait is kept while the store is away, can be read meanwhile, and is brought there afterwards; what
// may not wait fails.
func TestSpool(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	behind := storage.NewDir(t.TempDir())
	o := &outage{Store: behind}
	s := storage.NewSpool(o, t.TempDir())
	page := storage.PageKey("run", strings.Repeat("ab", 32))
	o.away.Store(true)
	if err := s.Put(ctx, page, []byte("text")); err != nil {
		t.Fatalf("a page while the store is away: %v", err)
	}
	if body, err := s.Get(ctx, page); err != nil || string(body) != "text" {
		t.Errorf("%q, %v", body, err)
	}
	if there, err := s.Exists(ctx, page); err != nil || !there {
		t.Errorf("%t, %v", there, err)
	}
	for _, key := range []string{storage.ManifestKey("run"), storage.ReportKey("run"), storage.CacheKey("run", "queue.json")} {
		if err := s.Put(ctx, key, []byte("x")); !errors.Is(err, storage.ErrAway) {
			t.Errorf("%s: %v", key, err)
		}
	}
	flusher, ok := s.(storage.Flusher)
	if !ok {
		t.Fatal("a spool that cannot be flushed")
	}
	if n, err := flusher.Flush(ctx); n != 0 || !errors.Is(err, storage.ErrAway) {
		t.Errorf("flushed %d, %v", n, err)
	}
	o.away.Store(false)
	if n, err := flusher.Flush(ctx); n != 1 || err != nil {
		t.Errorf("flushed %d, %v", n, err)
	}
	if body, err := behind.Get(ctx, page); err != nil || string(body) != "text" {
		t.Errorf("the store has %q, %v", body, err)
	}
	if n, err := flusher.Flush(ctx); n != 0 || err != nil {
		t.Errorf("flushed %d again, %v", n, err)
	}
}

// A spool whose store is there is that store.
func TestSpoolIsAStore(t *testing.T) {
	t.Parallel()
	storagetest.Exercise(t, func(t *testing.T) storage.Store { return storage.NewSpool(storage.NewDir(t.TempDir()), t.TempDir()) })
}
