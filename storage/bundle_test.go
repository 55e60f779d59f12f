package storage_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"nightdesk/storage"
)

// counted is a store that records its calls of Put.
type counted struct {
	*storage.Dir
	mu   sync.Mutex
	puts []string // the key of each call
}

func (c *counted) Put(ctx context.Context, key string, body []byte) error {
	c.mu.Lock()
	c.puts = append(c.puts, key)
	c.mu.Unlock()
	return c.Dir.Put(ctx, key, body)
}

// TestManifestIsLast: nothing is stored before Close, and the manifest after all other files.
func TestManifestIsLast(t *testing.T) {
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
	if len(s.puts) != 17 || s.puts[16] != storage.ManifestKey("run") {
		t.Errorf("stored %q, want 16 files and the manifest", s.puts)
	}
}
