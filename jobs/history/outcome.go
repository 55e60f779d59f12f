package history

import (
	"context"

	"nightdesk/pipeline/digest"
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
