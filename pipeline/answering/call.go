package answering

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

const (
	maxLine     = 300   // bytes of a message or query within a line
	maxQuery    = 1_000 // bytes of a query, except programs and addresses
	maxAsked    = 16    // calls processed per turn; a model that makes more is out of control
	maxFailures = 3     // failed calls listed in a result
	parallel    = 4     // parallel calls
)

// outcome is the result of a call.
type outcome struct {
	id      string // such as block_1/2.1: block, turn, ordinal
	turn    int    // turn of the call, counted from 1
	tool    string
	query   string
	problem string       // why there is no result, for the model; empty: see answer
	made    bool         // the tool was called
	answer  tools.Answer // of a call that was made
	sources []int        // indexes in work.sources
}

// act makes the calls of one turn in parallel. Every requested call counts, even an invalid one. Calls beyond the limit
// are rejected.
func (w *work) act(ctx context.Context, said string, actions []prompts.Action) error {
	first := len(w.outcomes)
	for i, a := range actions[:min(len(actions), maxAsked)] {
		o := w.check(a)
		o.id, o.turn = fmt.Sprintf("%s/%d.%d", w.block.ID, w.asked, i+1), w.asked
		w.outcomes = append(w.outcomes, o)
	}
	return w.call(ctx, said, first)
}

// check validates a call. The outcome of an invalid call has a problem.
func (w *work) check(a prompts.Action) outcome {
	name := topicqueue.Clip(topicqueue.OneLine(a.ToolType), maxLine)
	query := strings.TrimSpace(prompts.Unmarked(strings.ToValidUTF8(a.Query, "")))
	if w.callsLeft() == 0 {
		return outcome{tool: name, query: query, problem: "This call was not made: no tool calls are left."}
	}
	w.calls++
	tool, ok := w.tools.Meant(name)
	if !ok {
		return outcome{tool: name, query: query, problem: fmt.Sprintf("There is no tool %q. The tools are: %s.", name,
			strings.Join(w.tools.Names(), ", "))}
	}
	if !w.tools.Verbatim(tool) {
		query = topicqueue.Clip(topicqueue.OneLine(query), maxQuery)
	}
	o, key := outcome{tool: tool, query: query}, tools.Key(tool, query)
	switch {
	case key == "":
		o.problem = "This call was not made: it has no query."
	case w.issued[key]:
		o.problem = "This call was not made again: its result stands above."
	default:
		o.made = true
		w.issued[key] = true
	}
	return o
}

// searchItself searches for the user's words with the best available search if the model found nothing.
func (w *work) searchItself(ctx context.Context) error {
	query := topicqueue.Clip(topicqueue.OneLine(w.run.Topic), maxQuery)
	first := len(w.outcomes)
	for _, name := range []string{tools.NameReportEvidence, tools.NameRAGHybrid, tools.NameRAGNaive,
		tools.NameWebSearch, tools.NamePaperSearch} {
		_, ok := w.tools.Lookup(name)
		if key := tools.Key(name, query); !ok || key == "" || w.issued[key] || w.calls >= w.maxCalls {
			continue
		}
		w.calls++
		w.issued[tools.Key(name, query)] = true
		w.outcomes = append(w.outcomes, outcome{id: fmt.Sprintf("%s/%d.0", w.block.ID, w.asked), turn: max(1, w.asked),
			tool: name, query: query, made: true})
		break
	}
	if first == len(w.outcomes) {
		return nil
	}
	return w.call(ctx, "", first)
}

// call makes the calls from index first on and processes their results.
func (w *work) call(ctx context.Context, said string, first int) error {
	if err := w.emitThought(ctx, said, w.outcomes[first:]); err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range w.outcomes[first:] {
		o := &w.outcomes[first+i]
		if o.made {
			group.Go(func() error { return w.make(groupCtx, o) })
		}
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	for i := range w.outcomes[first:] {
		w.take(first + i)
	}
	return nil
}

// make makes one call, whose result the journal of the runner keeps.
func (w *work) make(ctx context.Context, o *outcome) (err error) {
	o.answer, err = w.Runner.Call(ctx, w.run.ID, o.tool, tools.Call{ToolID: o.id, Query: o.query})
	if o.answer.Failed {
		o.problem = topicqueue.Clip(topicqueue.OneLine(o.answer.Text), maxQuery)
	}
	return err
}

// take assigns citation ids to the sources of an outcome.
func (r *lookups) take(i int) {
	o := &r.outcomes[i]
	if o.problem != "" {
		if o.made && len(r.failures) < maxFailures {
			r.failures = append(r.failures, fmt.Sprintf("%s for %q failed: %s", o.tool,
				topicqueue.Clip(topicqueue.OneLine(o.query), maxLine), topicqueue.Clip(o.problem, maxLine)))
		}
		return
	}
	for _, s := range o.answer.Sources {
		if strings.TrimSpace(s.Text) == "" {
			continue
		}
		if s.ID == "" {
			s.ID = topicqueue.SourceID(s)
		}
		at, known := r.marked[s.ID]
		if !known {
			at = len(r.sources)
			r.marked[s.ID] = at
			r.sources = append(r.sources, source{Source: s, outcome: i,
				id: topicqueue.BlockCitationID(r.block.Number(), at+1)})
		}
		o.sources = append(o.sources, at)
	}
}
