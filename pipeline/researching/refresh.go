package researching

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// Documents has the texts of a knowledge base; *knowledge.Base does. Safe for concurrent use.
type Documents interface {
	// Text returns the whole text of a document. The error wraps fs.ErrNotExist when there is none of this key.
	Text(ctx context.Context, document string) (string, error)
	// Like returns at most limit passages that have most words of a text, best first.
	Like(ctx context.Context, text string, limit int) ([]topicqueue.Source, error)
}

// askedAtOnce is how many calls of Refresh are made side by side: they cost no model call, and sites keep their own pace.
const askedAtOnce = 6

// Refresh works on a block that an earlier run has researched: in one iteration it looks whether what the block says still
// stands, makes its searches again, and takes notes of what is new. Its calls are
//
//	pages       are asked for by the version that is known of them    -> unchanged, changed, gone, not to be had
//	documents   of the knowledge base are compared by their texts
//	searches    are asked again; results that were not there are opened
//	notes       of new pages, and of the paragraphs of a changed page that have something new
//
// Traces whose claims all stand are carried over as they are, under their own citations. What a source no longer says becomes a
// trace with Withdrawn, of the old text and under a citation of its own. The texts that memory.Texts names must be in the run's bundle.
//
// Where nothing has moved, no model is asked. The error is as for Research.
func (r *Researcher) Refresh(ctx context.Context, run topicqueue.Run, topic string, start Start, memory *recurring.Memory, old recurring.Block, q Queue) (Result, error) {
	w := newWork(r, run, topic, start)
	if start.Block.Iterations == 0 {
		f := &refresh{work: w, memory: memory, old: old, seen: memory.Seen(), looks: map[string]look{}, unseen: map[string]bool{}, bodies: map[string]string{}}
		if err := f.look(ctx, q); err != nil {
			return w.result(), err
		}
	}
	returned, err := w.remember(ctx, memory)
	result := w.result()
	result.Returned = returned
	return result, err
}

// refresh is the one iteration of Refresh.
type refresh struct {
	*work
	memory *recurring.Memory
	old    recurring.Block
	seen   recurring.Marks // of all that the last run has seen
	calls  int             // so far
	unseen map[string]bool // by PageKey: documents that say something new, and that no run has seen
	looks  map[string]look
	bodies map[string]string // by hash
	all    []outcome
	noting []outcome // with something to be noted
	ready  []note    // by noting: what is known without a note
}

func (f *refresh) look(ctx context.Context, q Queue) error {
	f.lastSeq = max(f.lastSeq, f.old.LastSeq)
	pages, searches := f.pageCalls(), f.searchCalls()
	thought := fmt.Sprintf("Looking again at what was found on %s: %d pages, %d searches.", f.memory.Date, len(pages), len(searches))
	if err := f.emitThought(ctx, 1, decision{thought: thought}); err != nil {
		return err
	}
	opened, err := f.ask(ctx, pages, false)
	if err != nil {
		return err
	}
	found, err := f.ask(ctx, searches, false)
	if err != nil {
		return err
	}
	if err := f.lookAtPages(ctx, opened); err != nil {
		return err
	}
	if err := f.lookAtResults(ctx, found); err != nil {
		return err
	}
	if err := f.lookAtDocuments(ctx); err != nil {
		return err
	}
	carried, lost, err := f.judge(ctx)
	if err != nil {
		return err
	}
	for _, t := range carried {
		for _, c := range t.Claims {
			f.texts[foldedText(c.Text)] = true
		}
	}
	if err := f.gather(ctx, found, lost); err != nil {
		return err
	}
	notes, err := f.takeNotes(ctx, 1, f.noting)
	if err != nil {
		return err
	}
	traces := f.record(1, f.noting, f.merged(notes))
	for _, t := range append(slices.Clone(traces), carried...) {
		f.lastSeq = max(f.lastSeq, citationSeq(t.CitationID))
	}
	cp := topicqueue.Checkpoint{Iteration: 1, Digest: f.digest(traces, f.noting)}
	old := f.asOf(lost)
	formers, err := f.formers(ctx, traces, lost)
	if err != nil {
		return err
	}
	cp.Traces = slices.Concat(carried, traces, old, formers)
	cp.Events = f.references(1, slices.Concat(carried, traces))
	if err := f.addCalls(ctx, &cp, f.all); err != nil {
		return err
	}
	return f.checkpoint(ctx, q, cp)
}

// pageCalls are calls for all pages that the block has opened or cites, each once.
func (f *refresh) pageCalls() []call {
	if _, ok := f.tools.Lookup(openPage); !ok {
		return nil
	}
	var calls []call
	seen := map[string]bool{}
	add := func(key, address string) {
		page, known := f.memory.Pages[key]
		if !known || !page.Opened || seen[key] || recurring.Document(key) != "" {
			return
		}
		seen[key] = true
		if page.URL != "" { // where the address has led to
			address = page.URL
			if at := recurring.AddressKey(address); seen[at] && at != key {
				return
			}
			seen[recurring.AddressKey(address)] = true
		}
		calls = append(calls, call{tool: openPage, query: address, known: page.Version()})
	}
	for _, t := range f.old.Traces {
		if t.Source.URL != "" {
			add(recurring.PageKey(t.Source), t.Source.URL)
		}
	}
	for _, a := range f.old.Asked {
		if a.Tool == openPage {
			add(recurring.AddressKey(a.Query), a.Query)
		}
	}
	return calls
}

// searchCalls are the block's searches.
func (f *refresh) searchCalls() []call {
	var calls []call
	for _, a := range f.old.Asked {
		if _, ok := f.tools.Lookup(a.Tool); ok && a.Tool != openPage {
			calls = append(calls, call{tool: a.Tool, query: a.Query})
		}
	}
	return calls
}

// ask makes calls, several at a time. aside: the next run has no reason to make them again.
func (f *refresh) ask(ctx context.Context, calls []call, aside bool) ([]outcome, error) {
	outcomes := make([]outcome, len(calls))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(askedAtOnce)
	for i, c := range calls {
		f.calls++
		c.id = fmt.Sprintf("%s/1.%d", f.block.ID, f.calls)
		group.Go(func() (err error) {
			outcomes[i], err = f.make(groupCtx, c, aside, f.doubt(c))
			return err
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f.all = append(f.all, outcomes...)
	return outcomes, err
}

// make makes one call, and lets the next run know of it. doubt: what makes of its answer none; may be nil.
func (w *work) make(ctx context.Context, c call, aside bool, doubt func(tools.Answer) bool) (outcome, error) {
	asked := tools.Call{ToolID: c.id, Query: c.query, Known: c.known}
	answer, err := w.Runner.Call(ctx, w.run.ID, c.tool, asked)
	if err != nil {
		return outcome{}, fmt.Errorf("call %s for %s: %w", c.tool, c.id, err)
	}
	if doubt != nil && doubt(answer) {
		answer.Failed, answer.Sources = true, nil
	}
	if w.Keep != nil {
		if err := w.Keep(ctx, recurring.CallOf(w.block.ID, c.tool, asked, answer, aside)); err != nil {
			return outcome{}, fmt.Errorf("remember %s: %w", c.id, err)
		}
	}
	return outcome{call: c, answer: answer}, nil
}
