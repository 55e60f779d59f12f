// Package finding searches the reports and claims of all runs in storage.
//
// Entry point: [Open].
package finding

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/search"
	"nightdesk/storage"
)

// Reports finds words in reports. Its index lies in the data directory of this machine.
type Reports struct {
	index *search.Index
	err   error // why there is no index
	log   zerolog.Logger
	kept  context.CancelFunc // nil: not read in the background
	done  chan struct{}
}

// Open opens the index of the reports in a store. If it cannot be opened, each search returns the error. The caller
// must close the result.
func Open(cfg config.Config, store storage.Store, log zerolog.Logger) *Reports {
	index, err := wiring.OpenSearch(cfg, store)
	return &Reports{index: index, err: err, log: log}
}

// Keep reads new reports in the background, until Close.
func (r *Reports) Keep(ctx context.Context) {
	if r.err != nil {
		r.log.Error().Err(r.err).Msg("reports cannot be searched")
		return
	}
	const pause = 10 * time.Second
	ctx, r.kept = context.WithCancel(r.log.WithContext(ctx))
	r.done = make(chan struct{})
	go func() {
		defer close(r.done)
		r.index.Keep(ctx, pause, r.behind)
	}()
}

func (r *Reports) behind(err error) { r.log.Warn().Err(err).Msg("search may miss new reports") }

// Search finds words in the reports that are indexed.
func (r *Reports) Search(ctx context.Context, q search.Query) (search.Results, error) {
	if r.err != nil {
		return search.Results{}, r.err
	}
	found, err := r.index.Search(ctx, q)
	if errors.Is(err, search.ErrNoWords) {
		err = view.Usage(view.Hint(err, "Give at least one word, for example Geneva."))
	}
	return found, err
}

// SearchNew is Search, but reads new reports first.
func (r *Reports) SearchNew(ctx context.Context, q search.Query) (search.Results, error) {
	if err := r.CatchUp(ctx, nil); err != nil && r.err == nil { // reports that are already indexed can be searched
		r.behind(err)
	}
	return r.Search(ctx, q)
}

// CatchUp reads new reports.
func (r *Reports) CatchUp(ctx context.Context, progress func(done, total int)) error {
	if r.err != nil {
		return r.err
	}
	_, err := r.index.CatchUp(r.log.WithContext(ctx), progress)
	return err
}

// Close closes the index.
func (r *Reports) Close() error {
	if r.kept != nil {
		r.kept()
		<-r.done
	}
	if r.err != nil {
		return nil
	}
	return r.index.Close()
}
