package storage

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Artefact is a body and the key that it is to be stored under.
type Artefact struct {
	Key  string
	Body []byte
}

// ManyPutter is the ability of a store to store several artefacts for less than the price of each.
type ManyPutter interface {
	// PutMany is Put for each artefact. No body is visible under its key before it survives a power cut, and when
	// PutMany returns, all of them do. After an error, any of them may be stored.
	PutMany(ctx context.Context, list []Artefact) error
}

var _ ManyPutter = (*Dir)(nil)

// putsAtOnce is how many artefacts are put at the same time: a bucket answers in tens of milliseconds.
const putsAtOnce = 8

// PutMany stores several artefacts: with PutMany of the store, else with its Put, several at the same time.
func PutMany(ctx context.Context, s Store, list []Artefact) error {
	if m, ok := s.(ManyPutter); ok {
		return m.PutMany(ctx, list)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(putsAtOnce)
	for _, a := range list {
		group.Go(func() error { return s.Put(groupCtx, a.Key, a.Body) })
	}
	return group.Wait()
}

// syncsAtOnce is how many files are synced at the same time: a journal commits what waits for it together.
const syncsAtOnce = 16

// PutMany writes temporary files beside the targets and syncs them side by side, then renames them in their order, and
// syncs each folder once.
func (d *Dir) PutMany(ctx context.Context, list []Artefact) error {
	temps := make([]string, len(list))
	defer func() {
		for _, temp := range temps {
			if temp != "" {
				os.Remove(temp)
			}
		}
	}()
	group := errgroup.Group{}
	group.SetLimit(syncsAtOnce)
	for i, a := range list {
		group.Go(func() (err error) {
			temps[i], err = d.write(ctx, a.Key, a.Body)
			return d.failed("store", a.Key, err)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	var folders []string
	for i, a := range list {
		if err := os.Rename(temps[i], d.Location(a.Key)); err != nil {
			return d.failed("store", a.Key, err)
		}
		if folder := filepath.Dir(temps[i]); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
		temps[i] = ""
	}
	for _, folder := range folders {
		if err := syncFolder(folder); err != nil {
			return d.failed("store files of", folder, err)
		}
	}
	return nil
}
