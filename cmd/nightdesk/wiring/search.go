package wiring

import (
	"fmt"
	"path/filepath"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/jobs/search"
	"nightdesk/storage"
)

// OpenSearch opens the search index of the reports in a store. The index is in the data directory. The caller closes
// it.
func OpenSearch(cfg config.Config, store storage.Store) (*search.Index, error) {
	list, ok := store.(search.Store)
	if !ok {
		return nil, fmt.Errorf("%s cannot be searched", store.Location(""))
	}
	folder := filepath.Join(cfg.DataDir, "search")
	index, err := search.Open(folder, list)
	if err != nil {
		return nil, view.Hint(err,
			"Give this user write access to "+folder+", or choose another directory with --data-dir.")
	}
	return index, nil
}
