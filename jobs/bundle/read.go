package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/reporting"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// ErrNoBundle means that the storage has no complete bundle of a run.
var ErrNoBundle = errors.New("there is no whole bundle of the run")

// ReadRun reads the run, in its final state, from its bundle. Errors are those of Read.
func ReadRun(ctx context.Context, store storage.Store, runID string) (run topicqueue.Run, err error) {
	whole, err := store.Exists(ctx, storage.ManifestKey(runID))
	switch {
	case err != nil:
		return run, err
	case !whole:
		return run, fmt.Errorf("%w %s in %s", ErrNoBundle, runID, store.Location("cache"))
	}
	return run, readJSON(ctx, store, storage.CacheKey(runID, "config.json"), &run)
}

func readJSON(ctx context.Context, store storage.Store, key string, into any) error {
	body, err := store.Get(ctx, key)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("read %s: it is not what a bundle has there: %w", store.Location(key), err)
	}
	return nil
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
	for _, t := range in.Plan.Traces {
		out = append(out, t.Source)
	}
	for _, b := range in.Blocks {
		for _, t := range b.Traces {
			out = append(out, t.Source)
		}
	}
	return out, nil
}

// storedBundle is the result of readBundle.
type storedBundle struct {
	reporting.Input
	metadata metadata
	lists    bool // whether it lists what calls returned
	missing  bool // whether some of these lists are lost
}

func readBundle(ctx context.Context, store storage.Store, runID string) (in storedBundle, err error) {
	if in.Run, err = ReadRun(ctx, store, runID); err != nil {
		return in, err
	}
	var planning planningFile
	var queue queueFile
	for _, f := range []struct {
		key  string
		into any
	}{
		{storage.CacheKey(runID, "step1_planning.json"), &planning},
		{storage.CacheKey(runID, "queue.json"), &queue},
		{storage.MetadataKey(runID), &in.metadata},
	} {
		if err := readJSON(ctx, store, f.key, f.into); err != nil {
			return in, err
		}
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

// Claims returns the claims of a bundle with their sources; none if the files do not exist.
func Claims(ctx context.Context, store storage.Store, runID string) ([]evidence.Claim, error) {
	texts, err := store.Get(ctx, storage.CacheKey(runID, "claims.jsonl"))
	if err != nil {
		return nil, ignoreMissing(err)
	}
	lines, err := store.Get(ctx, storage.CacheKey(runID, "sources.jsonl"))
	if err != nil {
		return nil, ignoreMissing(err)
	}
	sources := map[string]topicqueue.Source{}
	eachLine(lines, func(s topicqueue.Source) { sources[s.ID] = s })
	var claims []evidence.Claim
	eachLine(texts, func(c topicqueue.Claim) {
		if s, ok := sources[c.SourceID]; ok {
			claims = append(claims, evidence.Claim{Claim: c, Source: s})
		}
	})
	return claims, nil
}

// Cited returns the sources that the report of a run cites. The error wraps storage.ErrNotExist if the bundle lists no
// sources.
func Cited(ctx context.Context, store storage.Store, runID string) (cited []topicqueue.Source, err error) {
	lines, err := store.Get(ctx, storage.CacheKey(runID, "sources.jsonl"))
	if err != nil {
		return nil, err
	}
	eachLine(lines, func(line sourceLine) {
		if line.Cited {
			cited = append(cited, line.Source)
		}
	})
	return cited, nil
}

// Lines reads a JSON Lines file of a bundle. The error wraps storage.ErrNotExist if there is no such file.
func Lines[T any](ctx context.Context, store storage.Store, key string) (out []T, err error) {
	body, err := store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(body) {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("read %s: %w", store.Location(key), err)
		}
		out = append(out, v)
	}
	return out, nil
}

// eachLine calls yield for every line that decodes as a T.
func eachLine[T any](body []byte, yield func(T)) {
	for line := range bytes.Lines(body) {
		var v T
		if json.Unmarshal(line, &v) == nil {
			yield(v)
		}
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, storage.ErrNotExist) {
		return nil
	}
	return err
}

// readsAtOnce is the number of files read in parallel from a store.
const readsAtOnce = 8
