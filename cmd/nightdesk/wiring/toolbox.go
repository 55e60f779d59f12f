package wiring

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rs/zerolog"

	"nightdesk/jobs"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// toolbox creates the tools of runs.
type toolbox struct {
	bases  *library
	store  storage.Store
	common tools.Set // shared by all runs
	own    *OwnTools
}

// of returns the tools of one run.
func (t toolbox) of(ctx context.Context, run topicqueue.Run) (box jobs.Toolbox, err error) {
	var shelf knowledge.Shelf
	if run.Options.Attached != "" {
		attached, err := t.bases.base(ctx, knowledge.Attached, run.Options.Attached)
		if err != nil {
			return jobs.Toolbox{}, fmt.Errorf("open the documents attached to run %s: %w", run.ID, err)
		}
		shelf, box.Attached = append(shelf, attached), attached
	}
	if run.Options.KnowledgeBase != "" {
		b, err := t.bases.base(ctx, run.Options.KnowledgeBase, run.Options.KnowledgeVersion)
		if err != nil {
			return jobs.Toolbox{}, err
		}
		shelf, box.Documents = append(shelf, b), b
	}
	if len(shelf) > 0 {
		box.Sections = shelf
	}
	has, err := t.available(ctx, run, shelf)
	if err != nil {
		return jobs.Toolbox{}, err
	}
	box.Tools = has.Enabled(run.Options.Tools)
	for _, name := range run.Options.Tools {
		if _, ok := has.Lookup(name); !ok {
			warnMissing(ctx, run, name)
		}
	}
	return box, nil
}

// available returns all tools that this worker has for a run. shelf: the documents of the run.
func (t toolbox) available(ctx context.Context, run topicqueue.Run, shelf knowledge.Shelf) (tools.Set, error) {
	has := slices.Clone(t.common)
	if len(shelf) > 0 {
		has = append(has, tools.NewRAGHybrid(shelf, tools.ResultLimit), tools.NewRAGNaive(shelf, tools.ResultLimit),
			tools.NewQueryItem(shelf, tools.ResultLimit))
	}
	if slices.Contains(run.Options.Tools, tools.NameReportEvidence) {
		sources, err := bundle.Sources(ctx, t.store, run.Options.Follows)
		if err != nil && !errors.Is(err, bundle.ErrNoBundle) { // if purged in the meantime, the other tools remain usable
			return nil, err
		}
		if err == nil {
			has = append(has, tools.NewReportEvidence(sources, tools.ResultLimit))
		}
	}
	return append(has, t.own.Set(ctx, run.Options.Tools)...), nil
}

// warnMissing logs that this worker lacks a tool of a run, unless this is expected: a run can have no documents, no
// sandbox, or no report any more.
func warnMissing(ctx context.Context, run topicqueue.Run, name string) {
	switch {
	case name == tools.NameWebSearch:
		zerolog.Ctx(ctx).Warn().Str("run", run.ID).Msg("a run needs web_search, but this worker has no search engine: " +
			"set SEARXNG_URL or a search key on this worker")
	case !slices.Contains(tools.BuiltInNames(), name):
		zerolog.Ctx(ctx).Warn().Str("run", run.ID).Str("tool", name).Msg("a run needs a tool that this worker does not " +
			"have: add it to tools.file, or update this worker if the tool is built into a newer version")
	}
}
