package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"
)

// Files that are still being written are in tempFolder. No key has a part that begins with tempPrefix.
const (
	tempPrefix = ".tmp-"
	tempFolder = tempPrefix + "files"
)

// Dir keeps artefacts as files below one directory.
//
// Put syncs the file and its folder, even for small pages. On ext4, storing 2 KB took 2 to 4 ms with sync and 0.2 ms
// without, so the few hundred pages of a run cost about one second. In return, a power cut leaves either a whole file
// or none. Without sync, it could leave an empty page under its final name, which would count as stored from then on.
type Dir struct{ root string }

var _ Store = (*Dir)(nil)

// NewDir returns a store in the given directory. The first Put creates the directory.
func NewDir(root string) *Dir { return &Dir{root: filepath.Clean(root)} }

// Location returns the path of the artefact's file. It is relative if the store's directory is.
func (d *Dir) Location(key string) string { return filepath.Join(d.root, filepath.FromSlash(key)) }

// Put writes a temporary file, syncs it and renames it.
func (d *Dir) Put(ctx context.Context, key string, body []byte) error {
	return d.failed("store", key, d.write(ctx, key, body, os.Rename))
}

// PutNew writes a temporary file, syncs it and hard-links it to the target's name. The link fails if the name exists.
// The file system must support hard links.
func (d *Dir) PutNew(ctx context.Context, key string, body []byte) (created bool, err error) {
	if there, err := d.Exists(ctx, key); err != nil || there {
		return false, err
	}
	err = d.write(ctx, key, body, os.Link)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, d.failed("store", key, err)
}

// write writes body to a temporary file and gives it the key's name by move.
func (d *Dir) write(ctx context.Context, key string, body []byte, move func(from, to string) error) error {
	if err := usable(ctx, key); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(d.root, tempFolder), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Join(d.root, tempFolder), tempPrefix)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(body)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	folder := filepath.Dir(d.Location(key))
	for range 100 { // Delete may remove the folder, or one above it, while it is empty
		if err = os.MkdirAll(folder, 0o755); err == nil {
			err = move(f.Name(), d.Location(key))
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return err
	}
	return syncFolder(folder)
}

// Leftovers returns the paths of temporary files of killed processes that are older than the given time. Writing a file
// takes only seconds.
func (d *Dir) Leftovers(older time.Time) (paths []string, err error) {
	entries, err := os.ReadDir(filepath.Join(d.root, tempFolder))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().Before(older) {
			paths = append(paths, filepath.Join(d.root, tempFolder, e.Name()))
		}
	}
	return paths, d.failed("look through", tempFolder, ignore(err, fs.ErrNotExist))
}

// syncFolder syncs a folder so that new names survive a power cut. It does nothing on Windows and ignores file
// systems that do not support it.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// Get reads the artefact's file.
func (d *Dir) Get(ctx context.Context, key string) ([]byte, error) {
	if err := usable(ctx, key); err != nil {
		return nil, d.failed("fetch", key, err)
	}
	body, err := os.ReadFile(d.Location(key))
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotExist
	}
	if err != nil {
		return nil, d.failed("fetch", key, err)
	}
	return body, nil
}

// Exists reports whether the artefact's file exists.
func (d *Dir) Exists(ctx context.Context, key string) (bool, error) {
	if err := usable(ctx, key); err != nil {
		return false, d.failed("look for", key, err)
	}
	info, err := os.Stat(d.Location(key))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, d.failed("look for", key, err)
	}
	return info.Mode().IsRegular(), nil
}

// Delete removes the artefact's file, and folders that are empty then.
func (d *Dir) Delete(ctx context.Context, key string) error {
	if err := usable(ctx, key); err != nil {
		return d.failed("delete", key, err)
	}
	path := d.Location(key)
	err := os.Remove(path)
	for folder := filepath.Dir(path); err == nil && folder != d.root; folder = filepath.Dir(folder) {
		if os.Remove(folder) != nil { // it is not empty
			break
		}
	}
	return d.failed("delete", key, ignore(err, fs.ErrNotExist))
}

// List walks the part of the directory that can contain keys with this prefix.
func (d *Dir) List(ctx context.Context, prefix string) ([]string, error) {
	var keys []string
	err := d.walk(ctx, prefix, func(key string, _ fs.DirEntry) error {
		keys = append(keys, key)
		return nil
	})
	sort.Strings(keys)
	return keys, err
}

// ListStats is List with the size and modification time of each file.
func (d *Dir) ListStats(ctx context.Context, prefix string) ([]Listed, error) {
	var list []Listed
	err := d.walk(ctx, prefix, func(key string, e fs.DirEntry) error {
		info, err := e.Info()
		if err == nil {
			list = append(list, Listed{key, Stat{info.Size(), info.ModTime()}})
		}
		return ignore(err, fs.ErrNotExist)
	})
	slices.SortFunc(list, func(a, b Listed) int { return strings.Compare(a.Key, b.Key) })
	return list, err
}

// walk calls found for each file whose key begins with prefix.
func (d *Dir) walk(ctx context.Context, prefix string, found func(key string, e fs.DirEntry) error) error {
	start := d.root
	if i := strings.LastIndexByte(prefix, '/'); i > 0 && checkKey(prefix[:i]) == nil {
		start = d.Location(prefix[:i])
	}
	err := filepath.WalkDir(start, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil
		}
		if err = errors.Join(err, context.Cause(ctx)); err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(d.root, path)
		if key := filepath.ToSlash(rel); err == nil && strings.HasPrefix(key, prefix) && checkKey(key) == nil {
			err = found(key, e)
		}
		return err
	})
	return d.failed("list", fmt.Sprintf("%q", prefix), err)
}

// failed wraps err with the operation and, for known causes, with advice. It returns nil if err is nil.
func (d *Dir) failed(doing, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC):
		err = awayError{fmt.Errorf("%w: free disk space, or choose another directory with STORAGE_URL", err)}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		err = fmt.Errorf("%w: give this user write permission, or choose another directory with STORAGE_URL", err)
	}
	return fmt.Errorf("%s %s in directory %s: %w", doing, key, d.root, err)
}

// usable returns an error if the context has ended or the key is invalid.
func usable(ctx context.Context, key string) error {
	return errors.Join(context.Cause(ctx), checkKey(key))
}

// ignore returns nil instead of target.
func ignore(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}
