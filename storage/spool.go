package storage

import (
	"context"
	"errors"
	"path"
	"strings"
	"sync/atomic"
)

// Spool wraps a store that may become unavailable. While it is, Spool keeps the texts and figures of runs in a local
// directory until Flush uploads them. All other files go directly to the store, so that a bundle is either complete
// there or absent.
//
// An unavailable store is slow to report it. After the first such error and until the next Flush, spoolable files go
// to the directory without another attempt, so no call waits.
type Spool struct {
	Store
	dir  *Dir
	away atomic.Bool
}

var _ Store = (*Spool)(nil)

// NewSpool returns a spool for s in the given directory, which is created on demand.
func NewSpool(s Store, dir string) Store { return &Spool{Store: s, dir: NewDir(dir)} }

// Flusher is implemented by stores that keep artefacts elsewhere for a while.
type Flusher interface {
	// Flush stores all waiting artefacts and returns their number. Artefacts stored before an error are no longer
	// waiting.
	Flush(ctx context.Context) (int, error)
}

// waits reports whether an artefact may wait in the spool. Its absence from the store has no meaning, and its name is
// the hash of its content or identifies the call it belongs to.
func waits(key string) bool {
	return strings.HasPrefix(key, "cache/") && (namedByHash(key) || path.Base(path.Dir(key)) == "asked")
}

// isAway reports whether err means that the store is unavailable, and remembers it.
func (s *Spool) isAway(err error) bool {
	if errors.Is(err, ErrAway) {
		s.away.Store(true)
		return true
	}
	return false
}

// Put stores body. If the store is unavailable and the artefact may wait, body goes to the directory.
func (s *Spool) Put(ctx context.Context, key string, body []byte) error {
	if !waits(key) {
		return s.Store.Put(ctx, key, body)
	}
	var err error
	if !s.away.Load() {
		if err = s.Store.Put(ctx, key, body); !s.isAway(err) || ctx.Err() != nil {
			return err
		}
	}
	if kept := s.dir.Put(ctx, key, body); kept != nil {
		return errors.Join(err, kept)
	}
	return nil
}

// Get returns a body from the store, or the waiting copy.
func (s *Spool) Get(ctx context.Context, key string) ([]byte, error) {
	if waits(key) && s.away.Load() {
		if kept, err := s.dir.Get(ctx, key); err == nil {
			return kept, nil
		}
	}
	body, err := s.Store.Get(ctx, key)
	if err != nil && waits(key) && ctx.Err() == nil {
		s.isAway(err)
		if kept, keptErr := s.dir.Get(ctx, key); keptErr == nil {
			return kept, nil
		}
	}
	return body, err
}

// Exists reports whether a body is stored or waiting. While the store is unavailable, Exists ignores what it may
// contain; storing an artefact again is harmless.
func (s *Spool) Exists(ctx context.Context, key string) (bool, error) {
	if !waits(key) {
		return s.Store.Exists(ctx, key)
	}
	var there bool
	var err error
	away := s.away.Load()
	if !away {
		there, err = s.Store.Exists(ctx, key)
		away = s.isAway(err)
	}
	if there || ctx.Err() != nil {
		return there, err
	}
	if kept, keptErr := s.dir.Exists(ctx, key); keptErr == nil && kept || away {
		return kept, nil
	}
	return false, err
}

// Delete removes a body and its waiting copy.
func (s *Spool) Delete(ctx context.Context, key string) error {
	if waits(key) {
		if err := s.dir.Delete(ctx, key); err != nil {
			return err
		}
	}
	return s.Store.Delete(ctx, key)
}

// Flush implements Flusher.
func (s *Spool) Flush(ctx context.Context) (int, error) {
	keys, err := s.dir.List(ctx, "")
	if err != nil {
		return 0, err
	}
	for n, key := range keys {
		body, err := s.dir.Get(ctx, key)
		if err == nil {
			err = s.Store.Put(ctx, key, body)
		}
		if err == nil {
			err = s.dir.Delete(ctx, key)
		}
		if err != nil && !errors.Is(err, ErrNotExist) { // another process on this machine may have been faster
			return n, err
		}
	}
	s.away.Store(false)
	return len(keys), nil
}
