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
	code   func(context.Context) tools.Tool // run_code; nil if there is no sandbox
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
	own := t.own.Set(ctx, run.Options.Tools)
	for _, name := range run.Options.Tools {
		common, ok := t.common.Lookup(name)
		if !ok {
			common, ok = own.Lookup(name)
		}
		switch {
		case name == tools.NameReportEvidence:
			sources, err := bundle.Sources(ctx, t.store, run.Options.Follows)
			if errors.Is(err, bundle.ErrNoBundle) { // purged in the meantime; the other tools remain usable
				continue
			}
			if err != nil {
				return jobs.Toolbox{}, err
			}
			box.Tools = append(box.Tools, tools.NewReportEvidence(sources, t.bases.limit))
		case ok:
			box.Tools = append(box.Tools, common)
		case name == "web_search":
			zerolog.Ctx(ctx).Warn().Str("run",
				run.ID).Msg("a run needs web_search, but this worker has no search engine: set SEARXNG_URL or a " +
				"search key on this worker")
		case name == "run_code":
			// programs run only after planning
			if t.code == nil || run.State == topicqueue.RunQueued || run.State == topicqueue.RunPlanning {
				continue
			}
			if code := t.code(ctx); code != nil {
				box.Tools = append(box.Tools, code)
			}
		case !slices.Contains([]string{"rag_hybrid", "rag_naive", "query_item"}, name):
			zerolog.Ctx(ctx).Warn().Str("tool", name).Msg("a run wants a tool that cannot be used here: see tools.file")
		case len(shelf) == 0:
		case name == "rag_hybrid":
			box.Tools = append(box.Tools, tools.NewRAGHybrid(shelf, t.bases.limit))
		case name == "rag_naive":
			box.Tools = append(box.Tools, tools.NewRAGNaive(shelf, t.bases.limit))
		default:
			box.Tools = append(box.Tools, tools.NewQueryItem(shelf, t.bases.limit))
		}
	}
	return box, nil
}
