package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// Artefact is a body with its storage key.
type Artefact struct {
	Key  string
	Body []byte
}

// callsAtOnce is the number of parallel calls. A bucket takes tens of milliseconds per request.
const callsAtOnce = 8

// Each calls do for the numbers from 0 to n-1, several at once, and returns the first error.
func Each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(callsAtOnce)
	for i := range n {
		group.Go(func() error { return do(groupCtx, i) })
	}
	return group.Wait()
}

// PutMany stores several artefacts in parallel. After an error, any of them may be stored.
func PutMany(ctx context.Context, s Store, list []Artefact) error {
	return Each(ctx, len(list), func(ctx context.Context, i int) error { return s.Put(ctx, list[i].Key, list[i].Body) })
}

// ErrGarbled means that an artefact has another format than expected.
var ErrGarbled = errors.New("invalid file format")

// GetJSON decodes an artefact. The error wraps ErrNotExist or ErrGarbled if it is missing or something else.
func GetJSON[T any](ctx context.Context, s Store, key string) (v T, err error) {
	body, err := s.Get(ctx, key)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return v, fmt.Errorf("read %s: %w: %w", s.Location(key), ErrGarbled, err)
	}
	return v, nil
}
