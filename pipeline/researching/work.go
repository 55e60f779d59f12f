package researching

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/researching/recheck"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// work is one attempt at a block. Its methods are the steps of an iteration: decide, act, note, record, checkpoint. It
// is not safe for concurrent use.
type work struct {
	*Researcher
	Model llm.Model // the Researcher's model with its Patience
	assignment
	progress
}

// assignment is the task of a block and its tools.
type assignment struct {
	run   topicqueue.Run
	topic string
	block topicqueue.Block
	tools tools.Set // enabled for this run
	// overviews of all blocks by id, for notes that are taken for all of them; nil: those of this block
	overviews map[string]string
}

// progress is the state of a block, with its view of the others.
type progress struct {
	view      topicqueue.View
	issued    issued // queries of all blocks of the run
	own       issued // queries of this block
	traces    []topicqueue.ToolTrace
	claims    int
	lastSeq   int                    // last sequence number of a citation id
	planned   []topicqueue.ToolTrace // background of planning
	adopted   []topicqueue.ToolTrace // read while planning and not in a checkpoint yet
	noted     map[string]bool        // ids of sources read by a note
	texts     map[string]bool        // folded texts of claims
	feedback  []string               // messages on the last iteration's actions and proposals
	fallbacks []string
	failures  []string // see Result.Failures
	open      string   // gaps stated by the last decide; empty: none
	cut       bool     // the budget did not allow another iteration
}

func newWork(r *Researcher, run topicqueue.Run, topic string, start Start) *work {
	w := &work{
		Researcher: r,
		assignment: assignment{run: run, topic: topic, block: start.Block, tools: r.Runner.Tools.Enabled(run.Options.Tools)},
		progress:   progress{issued: issued{}, own: issued{}, noted: map[string]bool{}, texts: map[string]bool{}},
	}
	if r.Model != nil {
		enough := func() bool { return w.claims > 0 }
		w.Model = &llm.Patient{Model: r.Model, Until: r.Patience, Always: enough}
	}
	if start.Whole {
		w.tools = w.tools.Elsewhere()
	}
	w.see(start.View)
	w.lastSeq = start.LastSeq
	for _, t := range start.Traces {
		w.keep(t)
	}
	if start.Block.Iterations == 0 {
		w.adopt(start.Planned)
	}
	for _, id := range start.Memory.Read {
		w.noted[id] = true
	}
	w.feedback, w.fallbacks = start.Memory.Feedback, start.Memory.Fallbacks
	w.failures, w.open = start.Memory.Failures, start.Memory.Open
	for _, a := range start.Admissions {
		w.tell("%s", admissionLine(a))
	}
	return w
}

// see takes over the queue's view of the run.
func (p *progress) see(v topicqueue.View) {
	p.view = v
	p.issued.addLines(v.Queries)
	p.own.addLines(v.Own)
}

// keep adds a trace to the block.
func (p *progress) keep(t topicqueue.ToolTrace) {
	p.traces = append(p.traces, t)
	p.lastSeq = max(p.lastSeq, citationSeq(t.CitationID))
	p.noted[t.Source.ID] = true
	for _, c := range t.Claims {
		p.texts[recheck.FoldedText(c.Text)] = true
		p.claims++
	}
}

func (w *work) result() Result {
	return Result{Iterations: w.block.Iterations, Traces: len(w.traces), Claims: w.claims, Cut: w.cut,
		Fallbacks: w.fallbacks, Failures: w.failures}
}

func (w *work) maxActions() int {
	return cmp.Or(w.run.Options.MaxActions, w.MaxActions, DefaultMaxActions)
}

// asked returns the topic for prompts: the user's words or the brief, whichever is shorter. The blocks' overviews
// contain the brief's details.
func (a *assignment) asked() string {
	if len(a.topic) < len(a.run.Topic) {
		return a.topic
	}
	return a.run.Topic
}

func (a *assignment) flexible() bool {
	return a.run.Options.IterationMode == topicqueue.IterationFlexible
}

// fallBack records that a step was done without the model.
func (p *progress) fallBack(line string) {
	if !slices.Contains(p.fallbacks, line) {
		p.fallbacks = append(p.fallbacks, line)
	}
}

// tell adds a line of feedback to the next decide prompt.
func (p *progress) tell(format string, args ...any) {
	p.feedback = append(p.feedback, fmt.Sprintf(format, args...))
}

// iterate runs iteration k and reports whether another one is needed.
func (w *work) iterate(ctx context.Context, q Queue, k int) (goOn bool, err error) {
	d, err := w.decide(ctx, k)
	if errors.Is(err, llm.ErrUnavailable) && w.claims > 0 {
		w.fallBack(fmt.Sprintf("decide: the model server was down; %s ended after %d iterations with its "+
			"findings so far",
			w.block.ID, k-1))
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := w.emitThought(ctx, k, d); err != nil {
		return false, err
	}
	if w.flexible() && d.sufficient && w.claims > 0 {
		if len(d.proposals) == 0 {
			return false, nil
		}
		return false, w.checkpoint(ctx, q, topicqueue.Checkpoint{Iteration: k, Proposals: d.proposals})
	}
	if w.Model == nil && len(d.calls) == 0 { // everything is asked, so further iterations would find the same
		return false, nil
	}
	outcomes, err := w.act(ctx, d.calls)
	if err != nil {
		return false, err
	}
	for _, more := range []func() []recheck.Call{
		func() []recheck.Call { return w.topicCalls(k, outcomes) },
		func() []recheck.Call { return w.bestPages(k, d, outcomes) },
	} {
		found, err := w.act(ctx, more())
		if err != nil {
			return false, err
		}
		outcomes = append(outcomes, found...)
	}
	made := len(outcomes)
	if k == 1 {
		if outcomes, err = w.withBackground(ctx, outcomes); err != nil {
			return false, err
		}
	}
	notes, err := w.takeNotes(ctx, k, outcomes)
	if err != nil {
		return false, err
	}
	traces := w.record(k, outcomes, notes)
	if err := w.illustrate(ctx, traces, outcomes); err != nil {
		return false, err
	}
	cp := topicqueue.Checkpoint{Iteration: k, Traces: traces, Proposals: d.proposals, Events: w.references(k, traces),
		Digest: w.digest(traces)}
	if err := w.addCalls(ctx, &cp, results(outcomes[:made])); err != nil {
		return false, err
	}
	if !d.sufficient {
		w.suggestPages(d.calls, outcomes, traces)
	}
	if err := w.checkpoint(ctx, q, cp); err != nil {
		return false, err
	}
	return true, nil
}

func results(outcomes []outcome) (list []recheck.Result) {
	for _, o := range outcomes {
		list = append(list, o.Result)
	}
	return list
}

// addCalls adds to a checkpoint the queries, the number of calls with shared answers, and the returned sources.
func (w *work) addCalls(ctx context.Context, cp *topicqueue.Checkpoint, made []recheck.Result) (err error) {
	cp.Calls = map[string]topicqueue.ToolCalls{}
	for _, o := range made {
		cp.Queries = append(cp.Queries, issuedLine(o.Tool, o.Query))
		n := cp.Calls[o.Tool]
		n.Asked++
		if o.Answer.Shared {
			n.Shared++
		}
		cp.Calls[o.Tool] = n
	}
	cp.Returned, err = w.putReturned(ctx, made)
	return err
}

// putReturned stores everything that calls returned.
func (w *work) putReturned(ctx context.Context, made []recheck.Result) (hash string, err error) {
	var calls []topicqueue.Returned
	for _, o := range made {
		if r, ok := o.Answer.Returned(o.ID, o.Tool, o.Query); ok {
			calls = append(calls, r)
		}
	}
	if hash, err = w.Runner.PutReturned(ctx, w.run.ID, calls); ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return hash, err
}

// checkpoint stores an iteration and applies the queue's answer.
func (w *work) checkpoint(ctx context.Context, q Queue, cp topicqueue.Checkpoint) error {
	cp.Memory = topicqueue.BlockMemory{Feedback: w.feedback, Read: slices.Sorted(maps.Keys(w.noted)),
		Fallbacks: w.fallbacks, Failures: w.failures, Open: w.open}
	kept := len(w.adopted)
	if kept > 0 {
		cp.Traces = slices.Concat(w.adopted, cp.Traces)
		cp.Events, cp.Digest = w.references(cp.Iteration, cp.Traces), w.digest(cp.Traces)
	}
	res, err := q.Checkpoint(ctx, cp)
	if err != nil {
		return fmt.Errorf("checkpoint iteration %d of %s: %w", cp.Iteration, w.block.ID, err)
	}
	w.adopted = nil
	for _, t := range cp.Traces[kept:] {
		w.keep(t)
	}
	w.block.Iterations = cp.Iteration
	w.issued.addLines(cp.Queries)
	w.own.addLines(cp.Queries)
	w.see(res.View)
	for _, a := range res.Admissions {
		w.tell("%s", admissionLine(a))
	}
	return nil
}

func admissionLine(a topicqueue.Admission) string {
	title := topicqueue.Clip(strings.Join(strings.Fields(a.Title), " "), maxLine)
	switch a.Answer {
	case topicqueue.AdmissionAdded:
		return fmt.Sprintf("new topic %q was added as %s", title, a.BlockID)
	case topicqueue.AdmissionDuplicate:
		return fmt.Sprintf("new topic %q was rejected: %s already covers it", title, a.BlockID)
	case topicqueue.AdmissionFull:
		return fmt.Sprintf("new topic %q was refused: the run has as many topics as it may have; propose no more", title)
	case topicqueue.AdmissionSealed:
		return fmt.Sprintf("new topic %q was refused: the run takes no more topics; propose no more", title)
	}
	return fmt.Sprintf("new topic %q was rejected: %s", title, a.Answer)
}
