package storage_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"nightdesk/storage"
)

func TestLeftovers(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	old := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for path, at := range map[string]time.Time{
		"reports/a.md": old, "reports/.tmp-1": old, "cache/r/.tmp-2": old, "cache/r/.tmp-3": old.Add(25 * time.Hour),
		"redis/.tmp-4": old, "knowledge/b/.tmp-5": old, "cache/r/pages/x.txt": old, ".tmp-6": old, "notes/.tmp-7": old,
	} {
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(full, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"cache/empty", "redis/empty", "topics"} {
		full := filepath.Join(root, dir)
		if err := os.MkdirAll(full, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(full, old, old); err != nil {
			t.Fatal(err)
		}
	}
	d := storage.NewDir(root)
	paths, err := d.Leftovers(t.Context(), old.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range paths {
		rel, err := filepath.Rel(root, p)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	slices.Sort(got)
	if want := []string{".tmp-6", "cache/empty", "cache/r/.tmp-2", "knowledge/b/.tmp-5", "reports/.tmp-1"}; !slices.Equal(got, want) {
		t.Errorf("leftovers %q, want %q", got, want)
	}
	for _, p := range paths {
		if err := d.RemoveLeftover(p); err != nil {
			t.Error(err)
		}
	}
	if again, err := d.Leftovers(t.Context(), old.Add(time.Hour)); err != nil || len(again) > 0 {
		t.Errorf("again: %q, %v", again, err)
	}
	none, err := storage.NewDir(filepath.Join(root, "nothing")).Leftovers(t.Context(), old)
	if err != nil || len(none) > 0 {
		t.Errorf("of no directory: %q, %v", none, err)
	}
}
