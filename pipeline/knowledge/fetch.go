package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	keptVersions = 3              // fetched versions of one base that are kept regardless of age
	keptUnused   = 24 * time.Hour // retention of other versions after their last Fetch; runs may still read them
)

// Fetch makes a published version of a base available below dir and returns the path of its file. Open the file with
// Open; a search may add vectors to it, and nothing else is written. A version that is already there is not transferred
// again, and concurrent callers in any number of goroutines and processes share one transfer. Call Fetch at every use
// of a version: versions not fetched for a day are deleted, except the latest three of each base.
//
// name and version are those of Publish. The error comes from the store (for example, no such key), from the file
// system or from a damaged file, or is context.Cause(ctx).
func Fetch(ctx context.Context, store SnapshotStore, dir, name, version string) (path string, err error) {
	if err := CheckName(name); err != nil && name != Attached {
		return "", err
	}
	if !validVersion.MatchString(version) {
		return "", fmt.Errorf("version %q of knowledge base %s was never published", version, name)
	}
	path = filepath.Join(dir, name+"@"+version+suffix)
	if used(path) {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("fetch knowledge base %s: %w", name, err)
	}
	err = locked(ctx, filepath.Join(dir, "."+name+".fetch.lock"), func() error {
		if used(path) { // another caller fetched it while this one waited
			return nil
		}
		if err := fetch(ctx, store, SnapshotKey(name, version), filepath.Join(dir, "."+name+".fetch"), path,
			version[len(version)-hashDigits:]); err != nil {
			return err
		}
		return discard(dir, name)
	})
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", fmt.Errorf("fetch version %s of knowledge base %s: %w", version, name, err)
	}
	return path, nil
}

// Discard removes a fetched version from this machine. A missing version is not an error.
func Discard(dir, name, version string) error {
	if err := remove(filepath.Join(dir, name+"@"+version+suffix)); err != nil {
		return fmt.Errorf("remove version %s of %s: %w", version, name, err)
	}
	return nil
}

// used reports whether a fetched file exists, and records the time of use.
func used(path string) bool {
	now := time.Now()
	return os.Chtimes(path, now, now) == nil
}

// fetch writes to a temporary file and renames it, so that a file with the final name is always complete.
func fetch(ctx context.Context, store SnapshotStore, key, part, path, hash string) error {
	if err := remove(part); err != nil { // left by a killed process, and possibly read-only
		return err
	}
	body, err := store.Get(ctx, key)
	if err != nil {
		return err
	}
	if got := hashOf(body); got != hash {
		return fmt.Errorf("%s is damaged: its SHA-256 begins with %s; remove it and publish the knowledge base again",
			key, got)
	}
	if err := write(part, body); err != nil {
		return errors.Join(err, remove(part))
	}
	return os.Rename(part, path)
}

func write(path string, body []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(body)
	// sync before the rename, so that a power failure cannot leave an empty file under the final name
	return errors.Join(err, file.Sync(), file.Close())
}

// discard removes versions of a base that have not been used for keptUnused, except the keptVersions latest ones.
func discard(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	type version struct {
		path string
		used time.Time
	}
	var versions []version
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), name+"@")
		if !ok || !validVersion.MatchString(strings.TrimSuffix(rest, suffix)) {
			continue
		}
		if info, err := e.Info(); err == nil { // otherwise the file has been removed
			versions = append(versions, version{filepath.Join(dir, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(versions, func(a, b version) int {
		return cmp.Or(b.used.Compare(a.used), strings.Compare(a.path, b.path))
	})
	kept := keptVersions
	if name == Attached { // each version belongs to runs of its own
		kept = 0
	}
	for _, v := range versions[min(kept, len(versions)):] {
		if time.Since(v.used) > keptUnused {
			if err := remove(v.path); err != nil {
				return fmt.Errorf("remove an old version: %w", err)
			}
		}
	}
	return nil
}
