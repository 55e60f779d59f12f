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
	d := storage.NewDir(root)
	if err := d.Put(t.Context(), "cache/r/pages/x.txt", []byte("x")); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(root, ".tmp-files")
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("Put leaves %v, %v", entries, err)
	}
	old := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for name, at := range map[string]time.Time{"a": old, "b": old.Add(25 * time.Hour)} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	paths, err := d.Leftovers(old.Add(time.Hour))
	if want := []string{filepath.Join(folder, "a")}; err != nil || !slices.Equal(paths, want) {
		t.Errorf("leftovers %q, want %q, %v", paths, want, err)
	}
	none, err := storage.NewDir(filepath.Join(root, "nothing")).Leftovers(old)
	if err != nil || len(none) > 0 {
		t.Errorf("of no directory: %q, %v", none, err)
	}
}

// TestDeleteRemovesEmptyFolders: folders go with their last file, also while others are written into them.
func TestDeleteRemovesEmptyFolders(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := storage.NewDir(root)
	done := make(chan error)
	for _, key := range []string{"cache/r/pages/x.txt", "cache/r/pages/y.txt"} {
		go func() {
			for range 100 {
				if err := d.Put(t.Context(), key, nil); err != nil {
					done <- err
					return
				}
				if err := d.Delete(t.Context(), key); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "cache")); !os.IsNotExist(err) {
		t.Errorf("an empty folder stays: %v", err)
	}
}
