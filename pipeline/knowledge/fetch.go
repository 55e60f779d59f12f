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
	keptVersions  = 3              // fetched versions of one base that stay however old they are
	keptUnused    = 24 * time.Hour // others stay so long after their last Fetch: runs may still read them
	fetchAttempts = 2              // a transfer may break off or be damaged
)

// Fetch makes a published version of a base available below dir and returns its file, to be opened with Open and not to
// be written. What is there already is not fetched again; however many goroutines and processes ask at the same time,
// one transfers. Call it whenever a version is used, not only the first time: versions that nobody has asked for in a
// day make room, but for the latest three of each base.
//
// name, version: as Publish knew them. The error is one of the store (nothing is stored under the key), of the file
// system, of a damaged file, or context.Cause(ctx).
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
		if used(path) { // another one has fetched it while we waited
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

// Discard removes a fetched version from this machine; that it is not there is no error.
func Discard(dir, name, version string) error {
	if err := remove(filepath.Join(dir, name+"@"+version+suffix)); err != nil {
		return fmt.Errorf("remove version %s of %s: %w", version, name, err)
	}
	return nil
}

// used reports whether a fetched file is there, and marks that it is in use.
func used(path string) bool {
	now := time.Now()
	return os.Chtimes(path, now, now) == nil
}

// fetch transfers to a file beside the final one, so that what has the final name is whole.
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

// transferError is a body that is not what was stored.
type transferError struct{ error }

func (e transferError) Unwrap() error { return e.error }

func transfer(ctx context.Context, store SnapshotStore, key, part, hash string) (err error) {
	if err := remove(part); err != nil { // of a process that was killed; it may not be writable
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
	return file.Sync() // before it gets its name: a power cut must not leave an empty file with it
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

// sourceReader remembers that it was reading, not writing, that failed.
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

// discard removes the versions of a base that nobody has used for long.
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
		if info, err := e.Info(); err == nil { // else it is gone
			versions = append(versions, version{filepath.Join(dir, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(versions, func(a, b version) int {
		return cmp.Or(b.used.Compare(a.used), strings.Compare(a.path, b.path))
	})
	kept := keptVersions
	if name == Attached { // each has runs of its own
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
