package wiring

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/jobs/search"
	"nightdesk/storage"
)

// OpenStore opens the artefact store for reading.
func OpenStore(ctx context.Context, cfg config.Config) (storage.Store, error) {
	url := cfg.StorageURL.Reveal()
	if !strings.HasPrefix(url, "s3://") {
		return storage.NewDir(cmp.Or(strings.TrimPrefix(url, "file://"), cfg.DataDir)), nil
	}
	return OpenBucket(ctx, cfg, url)
}

// OpenBucket opens a folder of a bucket.
func OpenBucket(ctx context.Context, cfg config.Config, url string) (storage.Store, error) {
	bucket, prefix, err := storage.ParseS3(url)
	if err != nil {
		return nil, view.Usage(err)
	}
	s, err := storage.NewS3(ctx, storage.S3Settings{Bucket: bucket, Prefix: prefix,
		Endpoint: cfg.S3.Endpoint.Value, EndpointName: cfg.S3.Endpoint.Name,
		Region: cfg.S3.Region.Value, RegionName: cfg.S3.Region.Name})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// OpenWritableStore opens the artefact store and checks that it is writable, so that a faulty store is found before
// the work is done.
func OpenWritableStore(ctx context.Context, cfg config.Config, con *view.Console) (storage.Store, error) {
	s, err := OpenStore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := checkStore(ctx, con, s); err != nil {
		if _, local := s.(*storage.Dir); local {
			err = view.Hint(fmt.Errorf("the storage directory cannot be used: %w", err),
				"Choose another directory with --data-dir or STORAGE_URL=file:///dir, or free disk space.")
		}
		return nil, err
	}
	return s, nil
}

// checkStore checks that the store is writable. A service waits for an unavailable store.
func checkStore(ctx context.Context, con *view.Console, s storage.Store) error {
	if con.Service == "" {
		return storage.Check(ctx, s)
	}
	return await(ctx, con, "the storage", lastingStorage, func(ctx context.Context) error { return storage.Check(ctx, s) })
}

// readStore checks that the store is readable, with a timeout of a few seconds.
func readStore(ctx context.Context, s storage.Store) error {
	ctx, cancel := context.WithTimeoutCause(ctx, dialTime, fmt.Errorf("no success within %s", dialTime))
	defer cancel()
	return storage.CheckRead(ctx, s)
}

// OpenSearch opens the search index of the reports in a store. The index is in the data directory. The caller closes
// it.
func OpenSearch(cfg config.Config, store storage.Store) (*search.Index, error) {
	folder := filepath.Join(cfg.DataDir, "search")
	index, err := search.Open(folder, store)
	if err != nil {
		return nil, view.Hint(err,
			"Give this user write access to "+folder+", or choose another directory with --data-dir.")
	}
	return index, nil
}
