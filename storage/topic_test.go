package storage_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"nightdesk/storage"
)

// TestTopicVersions: if several runs end at once, each version is written once, none is lost, and the copy is the
// newest.
func TestTopicVersions(t *testing.T) {
	t.Parallel()
	const writers = 8
	s := storage.NewDir(t.TempDir())
	var wg sync.WaitGroup
	var refused atomic.Int64
	for w := range writers {
		wg.Go(func() {
			for {
				versions, err := storage.TopicVersions(t.Context(), s, "k")
				if err != nil {
					t.Error(err)
					return
				}
				created, err := storage.PutTopic(t.Context(), s, "k", len(versions)+1, fmt.Appendf(nil, "%d by %d", len(versions)+1, w))
				if err != nil {
					t.Error(err)
				}
				if created || err != nil {
					return
				}
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	versions, err := storage.TopicVersions(t.Context(), s, "k")
	if err != nil || len(versions) != writers || versions[writers-1] != storage.TopicVersionKey("k", writers) {
		t.Fatalf("versions %v, %v", versions, err)
	}
	newest, err := s.Get(t.Context(), versions[writers-1])
	if err != nil {
		t.Fatal(err)
	}
	if copied, err := s.Get(t.Context(), storage.TopicKey("k")); err != nil || string(copied) != string(newest) {
		t.Errorf("memory.json is %q, %v; the newest version is %q", copied, err, newest)
	}
	t.Logf("%d writes were refused", refused.Load())
}
