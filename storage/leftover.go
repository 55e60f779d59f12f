package storage

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Leftovers returns the paths of temporary files left by killed processes, and of empty folders. Both must be older
// than the given time; writing a file takes only seconds. Files precede folders.
func (d *Dir) Leftovers(ctx context.Context, older time.Time) ([]string, error) {
	var files, folders []string
	err := filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		var part string // first path element; other files in the directory are not ours to remove
		if rel, err := filepath.Rel(d.root, path); err == nil {
			part, _, _ = strings.Cut(filepath.ToSlash(rel), "/")
		}
		known := slices.Contains([]string{".", "reports", "cache", "batches", "topics", "knowledge"}, part)
		temp := strings.HasPrefix(e.Name(), tempPrefix)
		switch {
		case e.IsDir() && !known:
			return filepath.SkipDir
		case !known && !temp, e.IsDir() && (part == "." || path == filepath.Join(d.root, part)), !e.IsDir() && !temp:
			return nil
		}
		info, err := e.Info()
		if err != nil || !info.ModTime().Before(older) {
			return ignore(err, fs.ErrNotExist)
		}
		if !e.IsDir() {
			files = append(files, path)
			return nil
		}
		entries, err := os.ReadDir(path)
		if err == nil && len(entries) == 0 {
			folders = append(folders, path)
		}
		return ignore(err, fs.ErrNotExist)
	})
	if err != nil {
		return nil, d.failed("look through", "what is", err)
	}
	return append(files, folders...), nil
}

// RemoveLeftover removes one path returned by Leftovers. A folder that is no longer empty stays.
func (d *Dir) RemoveLeftover(path string) error {
	err := os.Remove(path)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		return nil
	}
	return d.failed("remove", path, ignore(err, fs.ErrNotExist))
}

func ignore(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}
