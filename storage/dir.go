package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// tempPrefix marks files that are being written; List does not show them.
const tempPrefix = ".tmp-"

// Dir keeps artefacts as files below one directory.
type Dir struct{ root string }

var _ Store = (*Dir)(nil)

// NewDir returns the store in this directory, which is created with the first Put.
func NewDir(root string) *Dir { return &Dir{root: filepath.Clean(root)} }

// Location returns the path of the artefact's file, relative when the directory was given so.
func (d *Dir) Location(key string) string { return filepath.Join(d.root, filepath.FromSlash(key)) }

// Put writes a temporary file beside the target, syncs it and renames it.
func (d *Dir) Put(ctx context.Context, key string, body []byte) error {
	if err := errors.Join(ctx.Err(), checkKey(key)); err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	path := d.Location(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix)
	if err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	_, err = f.Write(body)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("store %s: %w", key, err)
	}
	return nil
}

// Get reads the artefact's file.
func (d *Dir) Get(ctx context.Context, key string) ([]byte, error) {
	if err := errors.Join(ctx.Err(), checkKey(key)); err != nil {
		return nil, fmt.Errorf("fetch %s: %w", key, err)
	}
	body, err := os.ReadFile(d.Location(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("fetch %s: %w", key, ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", key, err)
	}
	return body, nil
}

// Exists looks for the artefact's file.
func (d *Dir) Exists(ctx context.Context, key string) (bool, error) {
	if err := errors.Join(ctx.Err(), checkKey(key)); err != nil {
		return false, fmt.Errorf("look for %s: %w", key, err)
	}
	info, err := os.Stat(d.Location(key))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for %s: %w", key, err)
	}
	return info.Mode().IsRegular(), nil
}

// List walks the directory.
func (d *Dir) List(ctx context.Context, prefix string) ([]string, error) {
	var keys []string
	err := filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(d.root, path)
		if key := filepath.ToSlash(rel); err == nil && strings.HasPrefix(key, prefix) && checkKey(key) == nil {
			keys = append(keys, key)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list %q: %w", prefix, err)
	}
	sort.Strings(keys)
	return keys, nil
}
