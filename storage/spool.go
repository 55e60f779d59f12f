package storage

import (
	"context"
	"errors"
	"path"
	"strings"
	"sync/atomic"
)

// Spool is a store in front of one that can be away: meanwhile the texts and figures that runs read and draw are kept
// in a directory of this machine, until Flush brings them where they belong. Everything else goes to the store itself,
// so that a bundle is whole there or not at all.
//
// A store that is away takes its time to say so: from its first such answer until the next Flush it is not asked for
// what may wait, and nobody waits for it.
type Spool struct {
	Store
	dir  *Dir
	away atomic.Bool
}

var (
	_ Store  = (*Spool)(nil)
	_ Linker = spoolLinker{}
)

// NewSpool returns the spool of a store in this directory, which is created when it is needed. Stores that give out
// links do so through it.
func NewSpool(s Store, dir string) Store {
	spool := &Spool{Store: s, dir: NewDir(dir)}
	if l, ok := s.(Linker); ok {
		return spoolLinker{spool, l}
	}
	return spool
}

type spoolLinker struct {
	*Spool
	Linker
}

// Flusher is the ability of a store to bring what it keeps elsewhere where it belongs.
type Flusher interface {
	// Flush stores everything that waits, and returns how many artefacts that were. What is stored waits no more, also
	// when a later one fails.
	Flush(ctx context.Context) (int, error)
}

// waits reports whether an artefact may wait: nothing is read into its absence, and its name is its content's, or that
// of the call that it tells of.
func waits(key string) bool {
	return strings.HasPrefix(key, "cache/") && (namedByHash(key) || path.Base(path.Dir(key)) == "asked")
}

// isAway reports whether that is the store's answer, and remembers it.
func (s *Spool) isAway(err error) bool {
	if errors.Is(err, ErrAway) {
		s.away.Store(true)
		return true
	}
	return false
}

// Put stores body, in the directory where the store is away and the artefact may wait.
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

// Get returns a body from the store, else what waits to be stored.
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

// Exists reports whether a body is stored or waits. Where the store is away, what it may have is put there once more,
// which is harmless.
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

// Delete removes a body, and what waits to be stored.
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
		if err != nil && !errors.Is(err, ErrNotExist) { // another process of this machine may have been faster
			return n, err
		}
	}
	s.away.Store(false)
	return len(keys), nil
}
