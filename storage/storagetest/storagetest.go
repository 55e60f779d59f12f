// Package storagetest is the conformance test suite for implementations of storage.Store.
package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/storage"
)

// Exercise tests one implementation. open returns an empty store on each call.
func Exercise(t *testing.T, open func(t *testing.T) storage.Store) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, storage.Store)
	}{
		{"put and get", putAndGet},
		{"missing key", missingKey},
		{"delete", deleteKey},
		{"list by prefix in order", listByPrefix},
		{"put many", putMany},
		{"invalid keys are rejected", invalidKeys},
		{"any character in names", anyCharacter},
		{"new key is created once", newKey},
		{"large body", largeBody},
		{"ended context", endedContext},
		{"check is repeatable", repeatedCheck},
		{"reads are atomic", atomicReads},
		{"manifest is written last", manifestLast},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func putAndGet(t *testing.T, s storage.Store) {
	for _, body := range [][]byte{nil, []byte("a"), []byte("replaced"), bytes.Repeat([]byte("x"), 1<<20)} {
		if err := s.Put(t.Context(), "reports/a.md", body); err != nil {
			t.Fatal(err)
		}
		got, err := s.Get(t.Context(), "reports/a.md")
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("Get = %d bytes, %v; want %d bytes", len(got), err, len(body))
		}
		if there, err := s.Exists(t.Context(), "reports/a.md"); err != nil || !there {
			t.Errorf("Exists = %v, %v", there, err)
		}
	}
	if !strings.Contains(s.Location("reports/a.md"), "a.md") {
		t.Errorf("Location = %q", s.Location("reports/a.md"))
	}
}

func missingKey(t *testing.T, s storage.Store) {
	if _, err := s.Get(t.Context(), "reports/none.md"); !errors.Is(err, storage.ErrNotExist) || errors.Is(err, storage.ErrAway) {
		t.Errorf("Get: %v, want ErrNotExist and not ErrAway", err)
	}
	if there, err := s.Exists(t.Context(), "reports/none.md"); err != nil || there {
		t.Errorf("Exists = %v, %v", there, err)
	}
	if keys, err := s.List(t.Context(), "reports/"); err != nil || len(keys) != 0 {
		t.Errorf("List = %v, %v", keys, err)
	}
}

func deleteKey(t *testing.T, s storage.Store) {
	if err := s.Put(t.Context(), "cache/r/a.json", []byte("a")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // deleting a missing key is not an error
		if err := s.Delete(t.Context(), "cache/r/a.json"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Get(t.Context(), "cache/r/a.json"); !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("Get after Delete: %v, want ErrNotExist", err)
	}
}

func listByPrefix(t *testing.T, s storage.Store) {
	for _, key := range []string{"cache/r/b.json", "cache/r/a.json", "cache/r2/c.json", "reports/r.md"} {
		if err := s.Put(t.Context(), key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string][]string{
		"cache/r/": {"cache/r/a.json", "cache/r/b.json"},
		"cache/r":  {"cache/r/a.json", "cache/r/b.json", "cache/r2/c.json"},
		"x":        nil,
	} {
		keys, err := s.List(t.Context(), prefix)
		if err != nil || !cmp.Equal(keys, want) {
			t.Errorf("List(%q) = %v, %v; want %v", prefix, keys, err, want)
		}
		list, err := s.ListStats(t.Context(), prefix)
		if err != nil || len(list) != len(want) {
			t.Errorf("ListStats(%q) = %v, %v; want %v", prefix, list, err, want)
			continue
		}
		for i, l := range list {
			if l.Key != want[i] || l.Size != int64(len(l.Key)) || time.Since(l.Stored).Abs() > time.Hour {
				t.Errorf("ListStats(%q) = %v; want %v, stored now", prefix, l, want[i])
			}
		}
	}
}

func putMany(t *testing.T, s storage.Store) {
	list := []storage.Artefact{{Key: "cache/r/a.json", Body: []byte("a")}, {Key: "cache/r/b.json", Body: []byte("b")},
		{Key: "cache/r/empty"}, {Key: "reports/r.md", Body: []byte("report")}}
	for range 2 {
		if err := storage.PutMany(t.Context(), s, list); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range list {
		if got, err := s.Get(t.Context(), a.Key); err != nil || !bytes.Equal(got, a.Body) {
			t.Errorf("Get(%s) = %q, %v; want %q", a.Key, got, err, a.Body)
		}
	}
	if err := storage.PutMany(t.Context(), s, nil); err != nil {
		t.Errorf("nothing to put: %v", err)
	}
}

func invalidKeys(t *testing.T, s storage.Store) {
	for _, key := range []string{"", "/etc/passwd", "../x", "a/../../x", "a//b", "a/./b", `a\b`, "a\x00b",
		strings.Repeat("k/", 300) + "k", strings.Repeat("k", 256), "a\nb", "a\xffb", ".tmp-1"} {
		if err := s.Put(t.Context(), key, []byte("x")); err == nil {
			t.Errorf("Put(%q) is accepted", key)
		}
		if created, err := s.PutNew(t.Context(), key, []byte("x")); err == nil || created {
			t.Errorf("PutNew(%q) is accepted", key)
		}
		if _, err := s.Exists(t.Context(), key); err == nil {
			t.Errorf("Exists(%q) is accepted", key)
		}
		if _, err := s.Get(t.Context(), key); err == nil || errors.Is(err, storage.ErrNotExist) {
			t.Errorf("Get(%q): %v, want a refusal of the key", key, err)
		}
	}
}

func anyCharacter(t *testing.T, s storage.Store) {
	keys := []string{"k/a b.md", "k/a%20b.md", "k/a+b=c&d.md", "k/e?f#g.md", "k/it's (1) [2] {3} ~!@$^*;:,.md",
		"k/Übung é.md", "k/研究.md"}
	for _, key := range keys {
		if err := s.Put(t.Context(), key, []byte(key)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context(), key); err != nil || string(got) != key {
			t.Errorf("Get(%q) = %q, %v", key, got, err)
		}
	}
	listed, err := s.List(t.Context(), "k/")
	slices.Sort(keys)
	if diff := cmp.Diff(keys, listed); err != nil || diff != "" {
		t.Errorf("List: %v, -want +got:\n%s", err, diff)
	}
}

func newKey(t *testing.T, s storage.Store) {
	const writers = 8
	var created atomic.Int64
	var first atomic.Value
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			body := fmt.Sprintf("writer %d", w)
			made, err := s.PutNew(t.Context(), "batches/b/digest.md", []byte(body))
			if err != nil {
				t.Error(err)
			}
			if made {
				created.Add(1)
				first.Store(body)
			}
		})
	}
	wg.Wait()
	got, err := s.Get(t.Context(), "batches/b/digest.md")
	if created.Load() != 1 || err != nil || string(got) != first.Load() {
		t.Errorf("created %d times; Get = %q, %v; want what the one creator wrote: %q", created.Load(), got,
			err, first.Load())
	}
	if keys, err := s.List(t.Context(), ""); err != nil || len(keys) != 1 {
		t.Errorf("List = %v, %v; want the one key", keys, err)
	}
	if err := s.Put(t.Context(), "batches/b/digest.md", []byte("replaced")); err != nil {
		t.Errorf("Put after PutNew: %v", err)
	}
}

func largeBody(t *testing.T, s storage.Store) {
	body := make([]byte, 24<<20+7)
	rand.NewChaCha8([32]byte{1}).Read(body)
	if created, err := s.PutNew(t.Context(), "knowledge/k/1.sqlite", body); err != nil || !created {
		t.Fatalf("PutNew = %v, %v", created, err)
	}
	if created, err := s.PutNew(t.Context(), "knowledge/k/1.sqlite", body[1:]); err != nil || created {
		t.Errorf("second PutNew = %v, %v", created, err)
	}
	got, err := s.Get(t.Context(), "knowledge/k/1.sqlite")
	if err != nil || !bytes.Equal(got, body) {
		t.Errorf("Get = %d bytes, %v; want what was put", len(got), err)
	}
	if err := s.Put(t.Context(), "knowledge/k/1.sqlite", body[:20<<20]); err != nil {
		t.Errorf("Put: %v", err)
	}
	if got, err := s.Get(t.Context(), "knowledge/k/1.sqlite"); err != nil || !bytes.Equal(got, body[:20<<20]) {
		t.Errorf("Get = %d bytes, %v; want the replacement", len(got), err)
	}
}

func endedContext(t *testing.T, s storage.Store) {
	cause := errors.New("the run is cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, newErr := s.PutNew(ctx, "k", nil)
	_, getErr := s.Get(ctx, "k")
	_, existsErr := s.Exists(ctx, "k")
	for call, err := range map[string]error{"Put": s.Put(ctx, "k", nil), "PutNew": newErr, "Get": getErr,
		"Exists": existsErr} {
		if !errors.Is(err, cause) {
			t.Errorf("%s: %v, want the context's cause", call, err)
		}
	}
	if there, err := s.Exists(t.Context(), "k"); err != nil || there {
		t.Errorf("Exists = %v, %v; want nothing stored", there, err)
	}
}

func repeatedCheck(t *testing.T, s storage.Store) {
	for range 2 {
		if err := storage.Check(t.Context(), s); err != nil {
			t.Error(err)
		}
	}
}

func atomicReads(t *testing.T, s storage.Store) {
	bodies := [][]byte{bytes.Repeat([]byte("a"), 1<<18), bytes.Repeat([]byte("b"), 1<<17)}
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for range 20 {
				if err := s.Put(t.Context(), "cache/r/x.json", bodies[w]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 40 {
			got, err := s.Get(t.Context(), "cache/r/x.json")
			if err != nil && !errors.Is(err, storage.ErrNotExist) {
				t.Error(err)
			}
			if err == nil && !bytes.Equal(got, bodies[0]) && !bytes.Equal(got, bodies[1]) {
				t.Errorf("read %d bytes that nobody wrote", len(got))
			}
		}
	})
	wg.Wait()
}

func manifestLast(t *testing.T, s storage.Store) {
	pages := storage.Pages{Store: s}
	for range 2 {
		if err := pages.PutPage(t.Context(), "run", "abc", "page text"); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := pages.PutFigure(t.Context(), "run", "figures/def.svg", []byte("<svg/>")); err != nil {
			t.Fatal(err)
		}
	}
	b := storage.NewBundle(s, "run")
	for i := range 3 {
		if err := b.PutJSON(storage.CacheKey("run", fmt.Sprintf("%d.json", i)),
			map[string]int{"n": i}); err != nil {
			t.Fatal(err)
		}
	}
	if there, _ := s.Exists(t.Context(), storage.ManifestKey("run")); there {
		t.Error("the manifest is there before Close")
	}
	staged, err := b.Staged(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(t.Context(), staged, testTime); err != nil {
		t.Fatal(err)
	}
	body, err := s.Get(t.Context(), storage.ManifestKey("run"))
	if err != nil || !bytes.Contains(body, []byte("pages/abc.txt")) || !bytes.Contains(body, []byte("figures/def.svg")) ||
		!bytes.Contains(body, []byte("2.json")) {
		t.Errorf("manifest %s, %v", body, err)
	}
}

var testTime = time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)
