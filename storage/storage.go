// Package storage keeps the files of runs under slash-separated keys: reports, data and evidence.
//
// Store is the interface. Dir keeps artefacts in a directory, S3 in a bucket. Check tests whether a store is usable.
// Bundle knows the layout of one run's files. The package does not interpret the contents of files.
package storage

import (
	"context"
	"errors"
	"time"
)

// ErrNotExist means that nothing is stored under a key.
var ErrNotExist = errors.New("nothing is stored under this key")

// ErrAway means that the store is temporarily unusable: it is unreachable, failing or full.
var ErrAway = errors.New("storage is temporarily unavailable")

// awayError wraps an error and also matches ErrAway.
type awayError struct{ error }

func (e awayError) Unwrap() error        { return e.error }
func (e awayError) Is(target error) bool { return target == ErrAway }

// Store keeps artefacts. Implementations are safe for concurrent use, including by several processes. Bodies are held
// in memory as a whole. An error names the operation, the key and the location, and never contains a credential. If
// ctx has ended, the error wraps its cause. A key must not be a folder of another key ("a" and "a/b"), because a
// directory cannot hold both.
type Store interface {
	// Put stores body under key and replaces an existing body. Readers see the old body or the new one, never a part.
	// When Put returns, the body survives a power cut. After an error the body may or may not be stored; putting it
	// again is harmless.
	Put(ctx context.Context, key string, body []byte) error
	// PutNew stores body under key unless the key exists; created reports whether it did. Of several concurrent
	// callers, one creates the key. Readers see nothing or the whole body. After an error the outcome is unknown;
	// call PutNew again to learn it.
	PutNew(ctx context.Context, key string, body []byte) (created bool, err error)
	// Get returns the whole body, or ErrNotExist if there is none. It never returns a short body without an error.
	Get(ctx context.Context, key string) ([]byte, error)
	// Exists reports whether a body is stored under key.
	Exists(ctx context.Context, key string) (bool, error)
	// Delete removes the body stored under key. A missing key is not an error.
	Delete(ctx context.Context, key string) error
	// List returns the keys that begin with prefix, in byte order.
	List(ctx context.Context, prefix string) ([]string, error)
	// ListStats is List with the properties of each artefact. An artefact that is deleted during the call may be
	// missing.
	ListStats(ctx context.Context, prefix string) ([]Listed, error)
	// Location returns the artefact's path or URL, for users. The artefact need not exist.
	Location(key string) string
}

// Stat holds the properties of an artefact besides its body.
type Stat struct {
	Size   int64     // bytes
	Stored time.Time // time of the last Put
}

// Listed is an artefact in a listing.
type Listed struct {
	Key string
	Stat
}
