package storage_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"nightdesk/storage"
)

// counted is a store that counts calls that must survive a power failure.
type counted struct {
	*storage.Dir
	puts []string // the keys of each call
}

func (c *counted) Put(ctx context.Context, key string, body []byte) error {
	c.puts = append(c.puts, key)
	return c.Dir.Put(ctx, key, body)
}

func (c *counted) PutMany(ctx context.Context, list []storage.Artefact) error {
	c.puts = append(c.puts, fmt.Sprint(len(list)))
	return c.Dir.PutMany(ctx, list)
}

// TestBundleIsStoredAtOnce: all files of a bundle are stored in one call, followed by the manifest.
func TestBundleIsStoredAtOnce(t *testing.T) {
	t.Parallel()
	s := &counted{Dir: storage.NewDir(t.TempDir())}
	b := storage.NewBundle(s, "run")
	for i := range 16 {
		b.Put(storage.CacheKey("run", fmt.Sprintf("%d.json", i)), []byte("{}"))
	}
	if keys, err := s.List(t.Context(), ""); err != nil || len(keys) > 0 {
		t.Errorf("before Close: %v, %v", keys, err)
	}
	if err := b.Close(t.Context(), nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"16", storage.ManifestKey("run")}; !slices.Equal(s.puts, want) {
		t.Errorf("stored %q, want %q", s.puts, want)
	}
}
