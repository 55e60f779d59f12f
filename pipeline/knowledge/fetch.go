package knowledge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	keptVersions  = 3              // fetched versions of one base that are kept regardless of age
	keptUnused    = 24 * time.Hour // retention of other versions after their last Fetch; runs may still read them
	fetchAttempts = 2              // a transfer may be interrupted or corrupted
)

// Fetch makes a published version of a base available below dir and returns the path of its file. Open the file with
// Open and do not write to it. A version that is already there is not transferred again, and concurrent callers in any
// number of goroutines and processes share one transfer. Call Fetch at every use of a version: versions not fetched for
// a day are deleted, except the latest three of each base.
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

// fetch transfers to a temporary file and renames it, so that a file with the final name is always complete.
func fetch(ctx context.Context, store SnapshotStore, key, part, path, hash string) error {
	for attempt := 1; ; attempt++ {
		err := transfer(ctx, store, key, part, hash)
		if err == nil {
			break
		}
		var broken transferError
		if attempt == fetchAttempts || ctx.Err() != nil || !errors.As(err, &broken) {
			return errors.Join(err, remove(part))
		}
	}
	if err := os.Chmod(part, 0o444); err != nil {
		return err
	}
	return os.Rename(part, path)
}

// transferError reports a body that differs from the stored one.
type transferError struct{ error }

func (e transferError) Unwrap() error { return e.error }

func transfer(ctx context.Context, store SnapshotStore, key, part, hash string) (err error) {
	if err := remove(part); err != nil { // left by a killed process, and possibly read-only
		return err
	}
	file, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	if err := get(ctx, store, key, io.MultiWriter(file, sum)); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil))[:hashDigits]; got != hash {
		return transferError{fmt.Errorf("%s is damaged: its SHA-256 begins with %s; remove it and publish the "+
			"knowledge base again", key, got)}
	}
	return file.Sync() // sync before the rename, so that a power failure cannot leave an empty file under the final name
}

func get(ctx context.Context, store SnapshotStore, key string, to io.Writer) error {
	s, ok := store.(SnapshotStreamer)
	if !ok {
		body, err := store.Get(ctx, key)
		if err != nil {
			return err
		}
		_, err = to.Write(body)
		return err
	}
	body, err := s.Open(ctx, key)
	if err != nil {
		return err
	}
	defer body.Close()
	from := &sourceReader{body: body}
	_, err = io.Copy(to, from)
	if from.err != nil {
		return transferError{from.err}
	}
	return err
}

// sourceReader records a read error, to tell it from a write error.
type sourceReader struct {
	body io.Reader
	err  error
}

func (r *sourceReader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
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
