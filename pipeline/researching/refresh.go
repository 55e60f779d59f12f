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
	// Passages returns all passages of a document in order. None: there is no document of this key.
	Passages(ctx context.Context, document string) ([]topicqueue.Source, error)
	// Hashes returns the hash of each document, by key: equal for equal documents.
	Hashes(ctx context.Context) (map[string]string, error)
	// Like returns at most limit passages that have most words of a text, best first, with their Share.
	Like(ctx context.Context, text string, limit int) ([]topicqueue.Source, error)
}

// askedAtOnce is how many calls of Refresh are made side by side: they cost no model call, and sites keep their own
// pace.
const askedAtOnce = 6

// Refresh works on a block that an earlier run has researched, in one iteration:
//
//	look    pages are asked for by the version that is known of them, documents read, searches asked again
//	align   the text of then with that of tonight (recurring.Span)
//	judge   claims stand, or the paragraph of theirs says something else now: it is read again
//	note    a model sees only the paragraphs that have moved, and says what matters in them; without one, what is
//	        about the topic as much as the claims are matters
//	tell    as Withdrawn, with what has come in its place, and Added
//
// Traces whose claims stand keep their citations. What a source no longer says becomes a trace with Withdrawn, of the
// old text and under a citation of its own. The texts that memory.Texts names must be in the run's bundle.
//
// What programs have computed from numbers that sources do not state any more is withdrawn, and the model may compute
// it anew in a second iteration, which is one of research. Where nothing has moved, no model is asked. The error is as
// for Research.
func (r *Researcher) Refresh(
	ctx context.Context, run topicqueue.Run, topic string, start Start, memory *recurring.Memory, old recurring.Block, q Queue,
) (Result, error) {
	w := newWork(r, run, topic, start)
	if start.Block.Iterations == 0 {
		f := &refresh{
			work: w, memory: memory, old: old, looks: map[string]*look{},
			span: recurring.Span{Since: memory.Date, Now: run.Date(w.now())},
		}
		if err := f.iterate(ctx, q); err != nil {
			return w.result(), err
		}
	}
	if err := w.computeAnew(ctx, q); err != nil {
		return w.result(), err
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
	span   recurring.Span
	looks  map[string]*look // by recurring.PageKey
	all    []outcome        // calls that were made
	calls  int

	most    float64         // how much of the topic that claim speaks of which speaks of it most
	seen    map[uint64]int  // marks of all that the last run has read; nil: not yet known
	edited  map[string]bool // documents of the knowledge base that have changed, come or gone; nil: not yet known
	broad   bool            // half of the documents of the knowledge base are about the topic
	losses  []loss
	places  map[uint64][]spot      // by marks, of all that is said tonight; nil: not yet known
	carried []topicqueue.ToolTrace // whose claims stand
	formers []topicqueue.ToolTrace // of what programs have printed and does not hold any more
}

func (f *refresh) iterate(ctx context.Context, q Queue) error {
	f.lastSeq = max(f.lastSeq, f.old.LastSeq)
	pages, searches := f.pageCalls(), f.searchCalls()
	thought := fmt.Sprintf("Looking again at what was found on %s: %d pages, %d searches.",
		f.memory.Date, len(pages), len(searches))
	if err := f.emitThought(ctx, 1, decision{thought: thought}); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return f.lookAround(ctx, pages, searches) }, f.align, f.judge, f.settle,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	traces, err := f.note(ctx)
	if err != nil {
		return err
	}
	citing := make([]*topicqueue.ToolTrace, 0, len(traces)+len(f.carried))
	for _, list := range [][]topicqueue.ToolTrace{traces, f.carried} {
		for i := range list {
			citing = append(citing, &list[i])
		}
	}
	cp := topicqueue.Checkpoint{Iteration: 1, Digest: f.digest(traces, f.all)}
	formers := slices.Concat(f.formers, f.told(citing)) // which adds to the others
	cp.Traces = slices.Concat(f.carried, traces, formers)
	cp.Events = f.references(1, slices.Concat(f.carried, traces))
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

// sameBase reports that the knowledge base is the version that the last run had: it answers what it answered then.
func (f *refresh) sameBase() bool {
	version := f.run.Options.KnowledgeVersion
	return version != "" && version == f.memory.KnowledgeVersion
}

// searchCalls are the block's searches, and those that it was planned with: they may have found nothing. A knowledge
// base of which nothing has changed is not asked again.
func (f *refresh) searchCalls() []call {
	calls := f.plannedCalls(1, f.old.SubTopic.Queries, f.searches())
	for _, a := range f.old.Asked {
		same := func(c call) bool { return tools.Key(c.tool, c.query) == tools.Key(a.Tool, a.Query) }
		if f.sameBase() && (retrieval(a.Tool) || a.Tool == queryItem) {
			calls = slices.DeleteFunc(calls, same)
			continue
		}
		if _, ok := f.tools.Lookup(a.Tool); ok && a.Tool != openPage && !slices.ContainsFunc(calls, same) {
			calls = append(calls, call{tool: a.Tool, query: a.Query})
		}
	}
	return calls
}

// ask makes calls, several at a time.
func (f *refresh) ask(ctx context.Context, calls []call) ([]outcome, error) {
	outcomes := make([]outcome, len(calls))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(askedAtOnce)
	for i, c := range calls {
		f.calls++
		c.id = fmt.Sprintf("%s/1.%d", f.block.ID, f.calls)
		group.Go(func() (err error) {
			outcomes[i], err = f.make(groupCtx, c)
			if err == nil && f.doubtful(groupCtx, outcomes[i]) {
				outcomes[i].answer.Failed, outcomes[i].answer.Sources = true, nil
			}
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

// make makes one call.
func (w *work) make(ctx context.Context, c call) (outcome, error) {
	answer, err := w.Runner.Call(ctx, w.run.ID, c.tool, tools.Call{ToolID: c.id, Query: c.query, Known: c.known})
	if err != nil {
		return outcome{}, fmt.Errorf("call %s for %s: %w", c.tool, c.id, err)
	}
	return outcome{call: c, answer: answer}, nil
}
