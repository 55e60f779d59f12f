// Package storage keeps what runs leave behind: reports, their data and evidence, under slash-separated keys.
//
// Store is the contract, Dir keeps artefacts in a directory; Bundle knows the layout of one run's files. Nothing here
// knows what is inside the files.
package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrNotExist means that nothing is stored under a key.
var ErrNotExist = errors.New("nothing is stored under this key")

// Store keeps artefacts. Implementations are safe for concurrent use, also by several processes.
type Store interface {
	// Put stores body under key, replacing what was there. Readers see the old body or the new one, never a part.
	Put(ctx context.Context, key string, body []byte) error
	// Get returns the whole body. ErrNotExist when there is none.
	Get(ctx context.Context, key string) ([]byte, error)
	// Exists reports whether a body is stored under key.
	Exists(ctx context.Context, key string) (bool, error)
	// List returns the keys that begin with prefix, in byte order.
	List(ctx context.Context, prefix string) ([]string, error)
	// Location returns where a person finds the artefact: a path or a URL. It need not exist.
	Location(key string) string
}

// checkKey refuses keys that could leave the store or mean two things on two systems.
func checkKey(key string) error {
	if key == "" || len(key) > 512 || strings.HasPrefix(key, "/") || strings.ContainsAny(key, "\\\x00") {
		return fmt.Errorf("storage key %q: not a relative slash-separated path of at most 512 bytes", key)
	}
	for _, part := range strings.Split(key, "/") {
		if part == "" || part == "." || part == ".." || strings.HasPrefix(part, tempPrefix) {
			return fmt.Errorf("storage key %q: part %q is not allowed", key, part)
		}
	}
	return nil
}
