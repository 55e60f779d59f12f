package storage

import (
	"context"

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

// GetMany reads several artefacts in parallel, in the order of their keys. Missing ones are nil.
func GetMany(ctx context.Context, s Store, keys []string) ([][]byte, error) {
	bodies := make([][]byte, len(keys))
	err := Each(ctx, len(keys), func(ctx context.Context, i int) (err error) {
		bodies[i], err = s.Get(ctx, keys[i])
		return ignore(err, ErrNotExist)
	})
	return bodies, err
}
