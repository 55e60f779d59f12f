package history

import (
	"context"

	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/digest"
	"nightdesk/pipeline/report"
	"nightdesk/storage"
)

// Outcome is the result of a night, from the metadata of its report.
type Outcome struct {
	RunID string `json:"research_id"`
	digest.Facts
}

// Outcomes returns the outcomes of nights by run id. Nights without metadata are omitted.
func Outcomes(ctx context.Context, store storage.Store, nights []Night) (map[string]Outcome, error) {
	keys := make([]string, len(nights))
	for i, n := range nights {
		keys[i] = storage.MetadataKey(n.RunID)
	}
	list, err := readAll[Outcome](ctx, store, keys)
	out := map[string]Outcome{}
	for _, o := range list {
		out[o.RunID] = o
	}
	return out, err
}

// Report returns the body of a run's report as Markdown without citations and list of changes. The error wraps
// storage.ErrNotExist if there is no report.
func Report(ctx context.Context, store storage.Store, runID string) (string, error) {
	r, err := bundle.Report(ctx, store, runID)
	return r.Without(report.RoleChanges).Body(nil), err
}
