package storage

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Artefact is a body with its storage key.
type Artefact struct {
	Key  string
	Body []byte
}

// ManyPutter is implemented by stores that can store several artefacts faster than one by one.
type ManyPutter interface {
	// PutMany is Put for each artefact. A body becomes visible under its key only once it would survive a power cut.
	// When PutMany returns, all bodies would. After an error, any of them may be stored.
	PutMany(ctx context.Context, list []Artefact) error
}

var _ ManyPutter = (*Dir)(nil)

// putsAtOnce is the number of parallel writes. A bucket takes tens of milliseconds per request.
const putsAtOnce = 8

// PutMany stores several artefacts: with the store's own PutMany if it has one, otherwise with parallel Put calls.
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

// syncsAtOnce is the number of files synced in parallel. A file system journal commits waiting files together.
const syncsAtOnce = 16

// PutMany writes temporary files beside the targets and syncs them in parallel. It then renames them in order and
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
