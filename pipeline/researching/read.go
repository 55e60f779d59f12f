package researching

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/researching/recheck"
	"nightdesk/pipeline/text"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

const (
	wholeShare   = 4      // a collection of at most 1/wholeShare of the window is read whole
	mostReadOnce = 32_000 // bytes in one note call of Read: as much as an answer of a few thousand tokens can cover
)

// Shelf lists the passages of documents; *knowledge.Base implements it.
type Shelf interface {
	Hashes(ctx context.Context) (map[string]string, error)                      // by document key
	Passages(ctx context.Context, document string) ([]topicqueue.Source, error) // in order
}

// Collection returns all passages of shelves, by document key, if they take at most a quarter of a window of this many
// tokens (0: unknown). It returns none if they take more or one of them cannot be read.
func Collection(ctx context.Context, window int, shelves ...Shelf) []topicqueue.Source {
	var all []topicqueue.Source
	room := WindowBytes(window) / 4 / wholeShare
	for _, shelf := range shelves {
		hashes, err := shelf.Hashes(ctx)
		if err != nil || len(hashes) > room {
			return nil
		}
		for _, document := range slices.Sorted(maps.Keys(hashes)) {
			passages, err := shelf.Passages(ctx, document)
			if err != nil {
				return nil
			}
			for _, s := range passages {
				if room -= llm.EstimateTokens(s.Text); room < 0 {
					return nil
				}
				all = append(all, s)
			}
		}
	}
	return all
}

// Read notes a collection for all blocks of a plan, in few model calls. The returned plan is Whole. Its new traces, one
// for each source and block that a claim of it is about, are for Start.Planned of the blocks.
//
// An error wraps llm.ErrUnavailable if a call got no answer, so the blocks must search for themselves. Other errors are
// those of Research.
func (r *Researcher) Read(
	ctx context.Context, run topicqueue.Run, plan topicqueue.Plan, sources []topicqueue.Source,
) (topicqueue.Plan, error) {
	w, sources := newWork(r, run, plan.Topic, Start{}), tools.Complete(sources, r.now())
	w.Model, w.overviews = r.Model, map[string]string{}
	for i, s := range plan.SubTopics {
		b := topicqueue.BlockTitle{ID: topicqueue.BlockID(i + 1), Title: s.Title}
		w.view.Blocks, w.overviews[b.ID] = append(w.view.Blocks, b), s.Overview
	}
	size := max(noteBytes, min(mostReadOnce, WindowBytes(r.Window)/8))
	n, err := w.read(ctx, 0, reading{sources: sources, parts: cut(sources, size), size: size,
		shares: w.bestShares([]outcome{{fresh: sources}})})
	if err != nil {
		return plan, err
	}
	if n.away {
		return plan, fmt.Errorf("note the documents: %w", llm.ErrUnavailable)
	}
	calls, err := w.calls(ctx, sources)
	if err != nil {
		return plan, err
	}
	if plan.Returned, err = w.putReturned(ctx, calls); err != nil {
		return plan, err
	}
	for i, b := range w.view.Blocks {
		for k, s := range sources {
			found := slices.DeleteFunc(slices.Clone(n.found), func(f recheck.Finding) bool {
				return f.Source != k || f.Block != b.ID
			})
			var orders []string
			if i == 0 {
				orders = n.ordersIn(k)
			}
			if len(found)+len(orders) == 0 {
				continue
			}
			call := slices.IndexFunc(calls, func(c recheck.Result) bool { return c.Query == s.Document })
			id := topicqueue.PlanCitationID(len(plan.Traces) + 1)
			t := w.trace(0, id, outcome{Result: calls[call]}, s, summaryOf(found), found)
			t.BlockID, t.Orders = b.ID, orders
			for c := range t.Claims {
				t.Claims[c].Block = ""
			}
			plan.Traces = append(plan.Traces, t)
		}
	}
	plan.Whole, plan.Fallbacks = true, append(plan.Fallbacks, w.fallbacks...)
	return plan, nil
}

// calls stores the texts of sources and returns the readings of their documents as calls.
func (w *work) calls(ctx context.Context, sources []topicqueue.Source) (calls []recheck.Result, err error) {
	for _, s := range sources {
		if err := w.Runner.Pages.PutPage(ctx, w.run.ID, s.Hash, s.Text); err != nil {
			return nil, causeOr(ctx, fmt.Errorf("store a passage of %s: %w", s.Document, err))
		}
		if n := len(calls); n == 0 || calls[n-1].Query != s.Document {
			calls = append(calls, recheck.Result{Answer: tools.Answer{Raw: topicqueue.PagePath(s.Hash)},
				Call: recheck.Call{ID: fmt.Sprintf("plan/2.%d", n+1), Tool: recurring.ReadDocument, Query: s.Document}})
		}
		last := &calls[len(calls)-1].Answer
		last.Sources, last.OriginalSize = append(last.Sources, s), last.OriginalSize+len(s.Text)
	}
	return calls, nil
}

// adopt makes what was read for the block while planning its own evidence, which the first checkpoint stores. It keeps
// the background of planning for withBackground.
func (w *work) adopt(planned []topicqueue.ToolTrace) {
	others := map[string][]topicqueue.ToolTrace{} // by block
	for _, t := range planned {
		if t.BlockID == "" {
			w.planned = append(w.planned, t)
			continue
		}
		if t.BlockID != w.block.ID {
			others[t.BlockID] = append(others[t.BlockID], t)
			continue
		}
		t = numbered(t, topicqueue.BlockCitationID(w.block.Number(), w.lastSeq+1))
		t.Iteration = 1
		w.adopted = append(w.adopted, t)
		w.keep(t)
	}
	for _, b := range w.view.Blocks { // they may not have adopted theirs yet
		told := slices.ContainsFunc(w.view.Ledger, func(d topicqueue.Digest) bool { return d.Block == b.ID })
		if d := w.digest(others[b.ID]); d.Claims > 0 && !told {
			d.Block = b.ID
			w.view.Ledger = append(w.view.Ledger, d)
		}
	}
}

// withBackground adds the sources of planning's background that match this block better than the others, so that they
// are noted. They are no calls of the block.
func (w *work) withBackground(ctx context.Context, outcomes []outcome) ([]outcome, error) {
	for _, t := range w.planned {
		s, best, most := t.Source, "", 0.0
		var err error
		if s.Text, err = w.Runner.Pages.Page(ctx, w.run.ID, s.Hash); err != nil {
			return nil, causeOr(ctx, fmt.Errorf("read %s of the background: %w", t.CitationID, err))
		}
		for _, b := range w.view.Blocks {
			if share := text.Coverage(s.Text, b.Title); share > most {
				best, most = b.ID, share
			}
		}
		if best != w.block.ID || w.noted[s.ID] {
			continue
		}
		w.noted[s.ID] = true
		if n := len(outcomes) - 1; n >= 0 && outcomes[n].ID == t.ToolID {
			outcomes[n].fresh = append(outcomes[n].fresh, s)
			continue
		}
		outcomes = append(outcomes, outcome{fresh: []topicqueue.Source{s}, Result: recheck.Result{
			Call: recheck.Call{ID: t.ToolID, Tool: t.ToolType, Query: t.Query},
			Answer: tools.Answer{Raw: t.RawAnswer, Truncated: t.RawAnswerTruncated,
				OriginalSize: t.RawAnswerOriginalSize}}})
	}
	return outcomes, nil
}
