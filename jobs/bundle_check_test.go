package jobs_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"nightdesk/jobs"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/reporting"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// TestCheckBundle changes a bundle in all ways that could go unnoticed. Each change is reported, and the original
// bundle has no problems.
func TestCheckBundle(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	b := setup(t, redistest.Server(t), nil)
	w := b.start(jobs.Settings{})
	id := b.enqueue(topic, options(2, 2, 2), "")
	b.wait(id)
	w.Stop()
	store := b.services.Store
	whole := b.check(id)
	if len(whole.Problems) > 0 || whole.Files < 10 || whole.Claims == 0 || whole.Sources == 0 || whole.Citations == 0 || whole.Sentences == 0 || whole.State != topicqueue.RunCompleted {
		t.Fatalf("%+v", whole)
	}
	keys, err := store.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	changed := 0
	for _, key := range keys {
		if !strings.Contains(key, id) || strings.HasPrefix(key, "topics/") { // its topic's are no part of it
			continue
		}
		body, err := store.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		restore := func() {
			if err := store.Put(t.Context(), key, body); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 { // a bit of one byte
			other := bytes.Clone(body)
			other[random.IntN(len(other))] ^= 1 << random.IntN(7)
			if err := store.Put(t.Context(), key, other); err != nil {
				t.Fatal(err)
			}
			if len(b.check(id).Problems) == 0 {
				t.Errorf("a changed byte of %s goes unseen", key)
			}
			changed++
			restore()
		}
		for name, other := range map[string][]byte{"a cut end": body[:len(body)-1], "an added line": append(bytes.Clone(body), '\n')} {
			if err := store.Put(t.Context(), key, other); err != nil {
				t.Fatal(err)
			}
			if len(b.check(id).Problems) == 0 {
				t.Errorf("%s of %s goes unseen", name, key)
			}
			restore()
		}
		if key == storage.ManifestKey(id) {
			continue
		}
		if err := store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if len(b.check(id).Problems) == 0 {
			t.Errorf("that %s is missing goes unseen", key)
		}
		restore()
	}
	extra := storage.CacheKey(id, "pages/"+strings.Repeat("ab", 32)+".txt")
	if err := store.Put(t.Context(), extra, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if p := b.check(id).Problems; len(p) != 1 || p[0].File != extra {
		t.Errorf("an added file: %v", p)
	}
	if err := store.Delete(t.Context(), extra); err != nil {
		t.Fatal(err)
	}
	if p := b.check(id).Problems; len(p) > 0 {
		t.Errorf("restored: %v", p)
	}
	t.Logf("%d files, %d changed bytes", whole.Files, changed)
	if err := store.Delete(t.Context(), storage.ManifestKey(id)); err != nil {
		t.Fatal(err)
	}
	manifest := storage.ManifestKey(id)
	isOnly := func(p []storage.Problem, what string) bool {
		return len(p) == 1 && p[0].File == manifest && strings.HasPrefix(p[0].What, what)
	}
	if p := b.check(id).Problems; !isOnly(p, "is missing although there are") {
		t.Errorf("without a manifest: %v", p)
	}
	if err := store.Put(t.Context(), manifest, []byte(`{"files":`)); err != nil {
		t.Fatal(err)
	}
	if p := b.check(id).Problems; !isOnly(p, "is not a valid manifest") {
		t.Errorf("with a garbled manifest: %v", p)
	}
	if _, err := bundle.Verify(t.Context(), store, id+"x"); !errors.Is(err, bundle.ErrNoBundle) {
		t.Errorf("of no run: %v", err)
	}
}

// TestReplay writes the report of a bundle again without a model. An extractive report stays the same.
func TestReplay(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Server(t), nil)
	w := b.start(jobs.Settings{})
	id := b.enqueue(topic, options(3, 2, 2), "")
	b.wait(id)
	w.Stop()
	want, err := b.services.Store.Get(t.Context(), storage.ReportKey(id))
	if err != nil {
		t.Fatal(err)
	}
	in, err := bundle.Read(t.Context(), b.services.Store, id)
	if err != nil {
		t.Fatal(err)
	}
	got, err := (&reporting.Reporter{}).Report(t.Context(), in)
	got.AddRun(in.Run)
	if err != nil || got.Markdown != string(want) {
		t.Errorf("%v\n--- stored\n%s\n--- again\n%s", err, want, got.Markdown)
	}
}
