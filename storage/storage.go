// Package storage keeps what runs leave behind: reports, their data and evidence, under slash-separated keys.
//
// Store is the contract, Dir keeps artefacts in a directory and S3 in a bucket; Check finds out whether a store can be
// used; Bundle knows the layout of one run's files. Nothing here knows what is inside the files.
package storage

import (
	"context"
	"errors"
	"time"
)

// ErrNotExist means that nothing is stored under a key.
var ErrNotExist = errors.New("nothing is stored under this key")

// ErrAway means that the store cannot be used now and may be later: it is out of reach, in trouble or full.
var ErrAway = errors.New("the store is away")

// awayError is an error that also matches ErrAway.
type awayError struct{ error }

func (e awayError) Unwrap() error        { return e.error }
func (e awayError) Is(target error) bool { return target == ErrAway }

// Store keeps artefacts. Implementations are safe for concurrent use, also by several processes. Bodies are held in
// memory as a whole. An error says what was being done, with which key and where, and never holds a credential; when
// ctx has ended it wraps its cause. A key must not be a folder of another one ("a" and "a/b"): a directory cannot hold
// both.
type Store interface {
	// Put stores body under key, replacing what was there. Readers see the old body or the new one, never a part. When it
	// returns, the body survives a power cut. After an error the body may be stored or not; putting it again is harmless.
	Put(ctx context.Context, key string, body []byte) error
	// PutNew stores body under key unless something is there already; created tells which. Of several callers at the same
	// time one creates. Readers see nothing or the whole body. After an error nobody knows; calling again tells.
	PutNew(ctx context.Context, key string, body []byte) (created bool, err error)
	// Get returns the whole body. ErrNotExist when there is none; never a short body without an error.
	Get(ctx context.Context, key string) ([]byte, error)
	// Exists reports whether a body is stored under key.
	Exists(ctx context.Context, key string) (bool, error)
	// Delete removes what is stored under key; nothing there is no error.
	Delete(ctx context.Context, key string) error
	// List returns the keys that begin with prefix, in byte order.
	List(ctx context.Context, prefix string) ([]string, error)
	// Location returns where a person finds the artefact: a path or a URL. It need not exist.
	Location(key string) string
}

// Stat is what a store knows of an artefact besides its body.
type Stat struct {
	Size   int64     // bytes
	Stored time.Time // when it was last put
}

// Stater is the ability of a store to tell the size and age of an artefact; Dir and S3 have it.
type Stater interface {
	// Stat asks for one key. ErrNotExist when there is nothing.
	Stat(ctx context.Context, key string) (Stat, error)
}

// Listed is an artefact in a listing.
type Listed struct {
	Key string
	Stat
}

// StatLister is the ability of a store to list artefacts with their sizes and ages, for the price of the listing; Dir
// and S3 have it.
type StatLister interface {
	// ListStats is Store.List with what is known of each artefact. One that is deleted meanwhile may be missing.
	ListStats(ctx context.Context, prefix string) ([]Listed, error)
}

// Linker is the ability of a store to give out links. S3 has it, Dir has not.
type Linker interface {
	// Link returns a URL by which anyone can read the artefact without credentials until lifetime has passed: at most
	// seven days, less when the store's own credentials expire earlier. The artefact need not exist.
	Link(ctx context.Context, key string, lifetime time.Duration) (string, error)
}
