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
)

// tempPrefix marks files that are being written; List does not show them.
const tempPrefix = ".tmp-"

// Dir keeps artefacts as files below one directory.
//
// Put syncs the file and its folder, for small pages as for reports: measured on ext4, 2 KB cost 2 to 4 ms then and
// 0.2 ms without, so the few hundred pages of a run pay about a second of its many minutes. In exchange a power cut
// leaves a whole file or none. Without it, a page could be left empty under its final name, and would be taken for
// stored ever after.
type Dir struct{ root string }

var (
	_ Store      = (*Dir)(nil)
	_ StatLister = (*Dir)(nil)
)

// NewDir returns the store in this directory, which is created with the first Put.
func NewDir(root string) *Dir { return &Dir{root: filepath.Clean(root)} }

// Location returns the path of the artefact's file, relative when the directory was given so.
func (d *Dir) Location(key string) string { return filepath.Join(d.root, filepath.FromSlash(key)) }

// Put writes a temporary file beside the target, syncs it and renames it.
func (d *Dir) Put(ctx context.Context, key string, body []byte) error {
	temp, err := d.write(ctx, key, body)
	if err != nil {
		return d.failed("store", key, err)
	}
	if err := os.Rename(temp, d.Location(key)); err != nil {
		os.Remove(temp)
		return d.failed("store", key, err)
	}
	return d.failed("store", key, syncFolder(filepath.Dir(temp)))
}

// PutNew writes a temporary file beside the target, syncs it and links it to the target's name, which fails when there
// is a file of this name. The file system must know hard links.
func (d *Dir) PutNew(ctx context.Context, key string, body []byte) (created bool, err error) {
	if there, err := d.Exists(ctx, key); err != nil || there {
		return false, err
	}
	temp, err := d.write(ctx, key, body)
	if err != nil {
		return false, d.failed("store", key, err)
	}
	defer os.Remove(temp)
	err = os.Link(temp, d.Location(key))
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, d.failed("store", key, err)
	}
	return true, d.failed("store", key, syncFolder(filepath.Dir(temp)))
}

// write writes body into a temporary file beside the key's file and returns its path.
func (d *Dir) write(ctx context.Context, key string, body []byte) (string, error) {
	if err := usable(ctx, key); err != nil {
		return "", err
	}
	folder := filepath.Dir(d.Location(key))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(folder, tempPrefix)
	if err != nil {
		return "", err
	}
	_, err = f.Write(body)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// syncFolder makes a new name survive a power cut. Windows and some network file systems cannot and need not.
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

// Exists looks for the artefact's file.
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

// Stat looks at the artefact's file.
func (d *Dir) Stat(ctx context.Context, key string) (Stat, error) {
	if err := usable(ctx, key); err != nil {
		return Stat{}, d.failed("look at", key, err)
	}
	info, err := os.Stat(d.Location(key))
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotExist
	}
	if err != nil {
		return Stat{}, d.failed("look at", key, err)
	}
	return Stat{info.Size(), info.ModTime()}, nil
}

// Delete removes the artefact's file. Its folder stays.
func (d *Dir) Delete(ctx context.Context, key string) error {
	if err := usable(ctx, key); err != nil {
		return d.failed("delete", key, err)
	}
	err := os.Remove(d.Location(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return d.failed("delete", key, err)
}

// List walks the part of the directory in which such keys can lie.
func (d *Dir) List(ctx context.Context, prefix string) ([]string, error) {
	var keys []string
	err := d.walk(ctx, prefix, func(key string, _ fs.DirEntry) error {
		keys = append(keys, key)
		return nil
	})
	sort.Strings(keys)
	return keys, err
}

// ListStats is List with a look at each file.
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

// walk calls found for the files whose keys begin with prefix.
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

// failed says what was being done and, where the cause is known, what to do. It returns nil when err is nil.
func (d *Dir) failed(doing, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC):
		err = awayError{fmt.Errorf("%w: make room there, or choose another directory with STORAGE_URL", err)}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		err = fmt.Errorf("%w: give this user the right to write there, or choose another directory with STORAGE_URL", err)
	}
	return fmt.Errorf("%s %s in directory %s: %w", doing, key, d.root, err)
}

// usable refuses a call whose context has ended or whose key is not allowed.
func usable(ctx context.Context, key string) error {
	return errors.Join(context.Cause(ctx), checkKey(key))
}
