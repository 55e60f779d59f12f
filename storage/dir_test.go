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
	if err == nil || !strings.Contains(err.Error(), "reports/a.md") {
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
