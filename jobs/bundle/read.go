package bundle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/reporting"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// ErrNoBundle means that the storage has no complete bundle of a run.
var ErrNoBundle = errors.New("no complete bundle of run")

// ReadRun reads the run, in its final state, from its bundle. Errors are those of Read.
func ReadRun(ctx context.Context, store storage.Store, runID string) (run topicqueue.Run, err error) {
	whole, err := store.Exists(ctx, storage.ManifestKey(runID))
	switch {
	case err != nil:
		return run, err
	case !whole:
		return run, fmt.Errorf("%w %s in %s", ErrNoBundle, runID, store.Location("cache"))
	}
	config, err := configJSON.read(ctx, store, runID)
	return config.Run, err
}

// Read reads the input of a report from a bundle, with the texts of the sources that contain claims. The error wraps
// ErrNoBundle if the run has no bundle. Otherwise it is the store's, or describes an invalid file.
func Read(ctx context.Context, store storage.Store, runID string) (reporting.Input, error) {
	b, err := readBundle(ctx, store, runID)
	return b.Input, err
}

// Sources returns the sources of a run that its claims are based on or that it has read, with their texts. Errors are
// those of Read.
func Sources(ctx context.Context, store storage.Store, runID string) ([]topicqueue.Source, error) {
	in, err := Read(ctx, store, runID)
	if err != nil {
		return nil, err
	}
	var out []topicqueue.Source
	for _, t := range in.Traces() {
		out = append(out, t.Source)
	}
	return out, nil
}

// storedBundle is the result of readBundle.
type storedBundle struct {
	reporting.Input
	metadata metadata
	lists    bool // whether it lists the sources returned by calls
	missing  bool // whether some of these lists are lost
}

func readBundle(ctx context.Context, store storage.Store, runID string) (in storedBundle, err error) {
	if in.Run, err = ReadRun(ctx, store, runID); err != nil {
		return in, err
	}
	planning, err := planningJSON.read(ctx, store, runID)
	if err != nil {
		return in, err
	}
	queue, err := queueJSON.read(ctx, store, runID)
	if err != nil {
		return in, err
	}
	if in.metadata, err = storage.GetJSON[metadata](ctx, store, storage.MetadataKey(runID)); err != nil {
		return in, err
	}
	in.Plan = topicqueue.Plan{
		Topic: planning.OptimizedTopic, Mode: planning.Mode, Queries: planning.SubQueries, SubTopics: planning.SubTopics,
		Traces: planning.Traces, Fallbacks: in.metadata.Fallbacks.Planning,
		Path: planning.Path, Why: planning.Why, Documents: planning.Documents, Remarks: planning.Remarks,
	}
	in.Changes = in.metadata.Changes
	pages, texts := storage.Pages{Store: store}, map[string]string{} // by hash
	fill := func(traces []topicqueue.ToolTrace) error {
		for i := range traces {
			source := &traces[i].Source
			text, known := texts[source.Hash]
			if !known {
				var err error
				if text, err = pages.Page(ctx, runID, source.Hash); err != nil {
					return err
				}
				texts[source.Hash] = text
			}
			source.Text = text
		}
		return nil
	}
	if err := fill(in.Plan.Traces); err != nil {
		return in, err
	}
	for _, b := range queue.Blocks {
		if err := fill(b.ToolTraces); err != nil {
			return in, err
		}
		in.Blocks = append(in.Blocks, reporting.BlockEvidence{Block: b.Block, Traces: b.ToolTraces})
	}
	outline, err := outlineJSON.read(ctx, store, runID)
	if err := ignoreMissing(err); err != nil { // a run may have no report
		return in, err
	}
	in.Computed = outline.Computed
	if err := fill(in.Computed); err != nil {
		return in, err
	}
	lists := []string{planning.Returned}
	for _, b := range queue.Blocks {
		lists = append(lists, b.Returned...)
	}
	var hashes []string
	for _, page := range lists {
		switch hash := pageHash(page); {
		case page == "":
		case slices.Contains(in.metadata.MissingTexts, hash):
			in.missing = true
		default:
			hashes = append(hashes, hash)
		}
	}
	in.lists = len(hashes) > 0
	in.Returned, err = ReadReturned(ctx, store, runID, hashes)
	return in, err
}

// ListedClaims returns the claims of a bundle; none if the file does not exist.
func ListedClaims(ctx context.Context, store storage.Store, runID string) (claims []topicqueue.Claim, err error) {
	listed, err := claimsJSONL.read(ctx, store, runID)
	for _, c := range listed {
		claims = append(claims, c.Claim)
	}
	return claims, ignoreMissing(err)
}

// Claims returns the claims of a bundle with their sources; none if the files do not exist.
func Claims(ctx context.Context, store storage.Store, runID string) ([]evidence.Claim, error) {
	listed, err := ListedClaims(ctx, store, runID)
	if err != nil {
		return nil, err
	}
	lines, err := sourcesJSONL.read(ctx, store, runID)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	sources := map[string]topicqueue.Source{}
	for _, line := range lines {
		sources[line.ID] = line.Source
	}
	var claims []evidence.Claim
	for _, c := range listed {
		if s, ok := sources[c.SourceID]; ok {
			claims = append(claims, evidence.Claim{Claim: c, Source: s})
		}
	}
	return claims, nil
}

// Cited returns the sources that the report of a run cites. The error wraps storage.ErrNotExist if the bundle lists no
// sources.
func Cited(ctx context.Context, store storage.Store, runID string) (cited []topicqueue.Source, err error) {
	lines, err := sourcesJSONL.read(ctx, store, runID)
	for _, line := range lines {
		if line.Cited {
			cited = append(cited, line.Source)
		}
	}
	return cited, err
}
