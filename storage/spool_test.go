package storage_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"nightdesk/storage"
	"nightdesk/storage/storagetest"
)

// outage is a store that can be unavailable.
type outage struct {
	storage.Store
	away  atomic.Bool
	asked atomic.Int32
}

func (o *outage) state() error {
	o.asked.Add(1)
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

// TestSpool: while the store is unavailable, artefacts that may wait are kept and readable, and are stored later.
// Others fail.
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

// TestSpoolAsksOnce: an unavailable store takes time to fail, so it is called once until the next check of its
// availability.
func TestSpoolAsksOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	o := &outage{Store: storage.NewDir(t.TempDir())}
	s := storage.NewSpool(o, t.TempDir())
	pages := storage.Pages{Store: s}
	read := func(text string) {
		t.Helper()
		hash := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		if err := pages.PutPage(ctx, "run", hash, text); err != nil {
			t.Fatal(err)
		}
		if got, err := pages.Page(ctx, "run", hash); err != nil || got != text {
			t.Fatalf("%q, %v", got, err)
		}
	}
	asked := func(want int32) {
		t.Helper()
		if n := o.asked.Swap(0); n != want {
			t.Errorf("the store was asked %d times, want %d", n, want)
		}
	}
	o.away.Store(true)
	for _, text := range []string{"one", "two", "three"} {
		read(text)
	}
	asked(1)
	flusher, ok := s.(storage.Flusher)
	if !ok {
		t.Fatal("a spool that cannot be flushed")
	}
	if _, err := flusher.Flush(ctx); !errors.Is(err, storage.ErrAway) {
		t.Errorf("flushed: %v", err)
	}
	asked(1)
	read("four")
	asked(0)
	o.away.Store(false)
	if n, err := flusher.Flush(ctx); n != 4 || err != nil {
		t.Errorf("flushed %d, %v", n, err)
	}
	asked(4)
	read("five") // looked for, stored, read
	asked(3)
	if body, err := o.Store.Get(ctx, storage.PageKey("run", fmt.Sprintf("%x", sha256.Sum256([]byte("five"))))); err != nil || string(body) != "five" {
		t.Errorf("the store has %q, %v", body, err)
	}
}

// TestSpoolIsAStore: with an available store, the spool behaves like that store.
func TestSpoolIsAStore(t *testing.T) {
	t.Parallel()
	storagetest.Exercise(t, func(t *testing.T) storage.Store { return storage.NewSpool(storage.NewDir(t.TempDir()), t.TempDir()) })
}
