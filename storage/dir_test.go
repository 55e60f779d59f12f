package storage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nightdesk/storage"
	"nightdesk/storage/storagetest"
)

func TestDir(t *testing.T) {
	t.Parallel()
	storagetest.Exercise(t, func(t *testing.T) storage.Store { return storage.NewDir(t.TempDir()) })
}

func TestDirSaysWhatItCouldNotStore(t *testing.T) {
	t.Parallel()
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := storage.NewDir(blocked).Put(t.Context(), "reports/a.md", []byte("x"))
	if err == nil || !strings.Contains(err.Error(), "store reports/a.md") {
		t.Errorf("Put below a file: %v", err)
	}
}

func TestDirLeavesNothingHalfVisible(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := storage.NewDir(root)
	if err := s.Put(t.Context(), "cache/r/a.json", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "cache/r/.tmp-123"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys, err := s.List(t.Context(), "")
	if err != nil || len(keys) != 1 {
		t.Errorf("List = %v, %v; want only the finished file", keys, err)
	}
}

// TestDirPutsAllOrShowsNone: if one file cannot be written, none of the call's files becomes visible.
func TestDirPutsAllOrShowsNone(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := storage.NewDir(root)
	if err := s.Put(t.Context(), "reports/r.md", []byte("old")); err != nil {
		t.Fatal(err)
	}
	err := s.PutMany(t.Context(), []storage.Artefact{
		{Key: "cache/r/a.json", Body: []byte("new")}, {Key: "reports/r.md/under-a-file", Body: []byte("new")},
		{Key: "cache/r/b.json", Body: []byte("new")},
	})
	if err == nil || !strings.Contains(err.Error(), "store reports/r.md/under-a-file") {
		t.Errorf("below a file: %v", err)
	}
	keys, err := s.List(t.Context(), "")
	if err != nil || len(keys) != 1 {
		t.Errorf("List = %v, %v; want only what was there", keys, err)
	}
	if left, err := filepath.Glob(filepath.Join(root, "*", "*", ".tmp-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
