package researching

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/researching/recheck"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// outcome is the result of a call.
type outcome struct {
	recheck.Result
	fresh []topicqueue.Source // sources that no note of this block has read
	only  []recheck.Part      // new parts of fresh; nil: all
}

// name returns the name of a call for messages: its query, or the purpose of a program.
func (o outcome) name() string {
	if o.Tool == runCode && o.Purpose != "" {
		return o.Purpose
	}
	return topicqueue.Clip(topicqueue.OneLine(o.Query), maxLine)
}

// callList collects the calls of one iteration. It rejects repeated ones.
type callList struct {
	w     *work
	k     int
	asked issued
	limit int // maximum number of calls
	calls []recheck.Call
}

func (l *callList) full() bool { return len(l.calls) >= l.limit }

func (l *callList) has(tool, query string) bool {
	key := issuedKey(tool, query)
	for _, c := range l.calls {
		if issuedKey(c.Tool, c.Query) == key {
			return true
		}
	}
	return l.asked.has(tool, query)
}

// add appends a call unless the list is full or the call was already made or planned.
func (l *callList) add(tool, query string) bool {
	if l.full() || l.has(tool, query) {
		return false
	}
	l.calls = append(l.calls, recheck.Call{
		ID: fmt.Sprintf("%s/%d.%d", l.w.block.ID, l.k, len(l.calls)+1), Tool: tool, Query: query,
	})
	return true
}

// checkActions converts the actions of a model to calls. A rejected action becomes a feedback line for the next
// iteration. A query of another block is not rejected, because its answer is reused.
func (w *work) checkActions(k int, actions []prompts.Action) []recheck.Call {
	l := callList{w: w, k: k, asked: w.own, limit: w.maxActions()}
	for _, a := range actions {
		name := topicqueue.Clip(topicqueue.OneLine(strings.TrimSpace(a.ToolType)), maxLine)
		tool, ok := w.tools.Meant(name)
		switch {
		case !ok:
			w.tell("tool %q does not exist and was not called; the tools are: %s", name, strings.Join(w.tools.Names(), ", "))
			continue
		case tool != name:
			w.tell("tool %q does not exist; its query went to %s", name, tool)
		}
		query := strings.TrimSpace(prompts.Unmarked(strings.ToValidUTF8(a.Query, "")))
		if !w.tools.Verbatim(tool) {
			query = topicqueue.Clip(topicqueue.OneLine(query), maxClaim)
		}
		switch {
		case !w.tools.Verbatim(tool) && topicqueue.CanonicalQuery(query) == "", query == "":
			w.tell("a call of %s had no query and was dropped", tool)
		case l.has(tool, query):
			w.tell("%s was not asked again for %q: this block has asked it before", tool,
				topicqueue.Clip(topicqueue.OneLine(query), maxLine))
		case !l.add(tool, query):
			w.tell("%s was not asked for %q: at most %d calls in one iteration", tool,
				topicqueue.Clip(topicqueue.OneLine(query), maxLine), w.maxActions())
		default:
			l.calls[len(l.calls)-1].Purpose = topicqueue.Clip(topicqueue.OneLine(prompts.Unmarked(a.Rationale)), maxLine)
		}
	}
	return l.calls
}

// plannedCalls returns the calls that need no planning by a model: each query sent to each search, then look-ups of
// items that the topic names. It returns none if all of them were already made.
func (w *work) plannedCalls(k int, queries, searches []string) []recheck.Call {
	l := callList{w: w, k: k, asked: w.issued, limit: w.maxActions()}
	_, items := w.tools.Lookup(queryItem)
	for _, q := range queries {
		q = topicqueue.Clip(topicqueue.OneLine(q), maxClaim)
		switch {
		case topicqueue.CanonicalQuery(q) == "":
		case items && topicqueue.IsPlace(q):
			l.add(queryItem, q)
		default:
			for _, tool := range searches {
				l.add(tool, q)
			}
		}
	}
	if items {
		for _, item := range namedItems(w.block.Title + "\n" + w.topic) {
			l.add(queryItem, item)
		}
	}
	return l.calls
}

// topicCalls returns searches for the user's own topic and the block's title if a model's queries have found nothing
// for this block. Without them, the run would find less than one without a model.
func (w *work) topicCalls(k int, outcomes []outcome) []recheck.Call {
	l := w.callsAfter(k, outcomes)
	found := slices.ContainsFunc(outcomes, func(o outcome) bool { return len(o.fresh) > 0 })
	if w.Model == nil || w.claims > 0 || found {
		return nil
	}
	searches := w.searches()
	l.limit += 2 * len(searches)
	for _, q := range []string{w.run.Topic, w.block.Title} {
		for _, tool := range searches {
			l.add(tool, topicqueue.Clip(topicqueue.OneLine(q), maxClaim))
		}
	}
	return l.calls[len(outcomes):]
}

// callsAfter returns the list of calls of an iteration that has these outcomes. It is full.
func (w *work) callsAfter(k int, outcomes []outcome) callList {
	l := callList{w: w, k: k, asked: w.issued, limit: len(outcomes)}
	for _, o := range outcomes {
		l.calls = append(l.calls, o.Call)
	}
	return l
}

// searches returns the enabled tools that take a question, starting with the search of the knowledge base.
func (a *assignment) searches() []string {
	var names []string
	for _, name := range []string{ragHybrid, ragNaive, webSearch, paperSearch} {
		_, ok := a.tools.Lookup(name)
		if twice := name == ragNaive && len(names) > 0; ok && !twice { // rag_hybrid finds everything that it finds
			names = append(names, name)
		}
	}
	return names
}

// act makes all calls in parallel and returns their outcomes in order. An error stops the block.
func (w *work) act(ctx context.Context, calls []recheck.Call) ([]outcome, error) {
	results, err := recheck.Make(ctx, w.Runner, w.run.ID, calls, w.maxActions())
	if err != nil {
		return nil, err
	}
	outcomes := make([]outcome, len(results))
	for i, r := range results {
		outcomes[i].Result = r
		w.takeFresh(&outcomes[i])
	}
	return outcomes, nil
}

// maxFailures is the maximum number of failed calls in a block's result. One usually shows the problem, and the journal
// has them all.
const maxFailures = 3

// takeFresh sets the sources of an outcome that are new to the block, and adds feedback on the call. A source belongs
// to the first call that returned it.
func (p *progress) takeFresh(o *outcome) {
	said := o.Answer.Text
	if o.Tool == runCode { // the first line is the reason, the others are the program's output
		said, _, _ = strings.Cut(said, "\n")
	}
	query, said := o.name(), topicqueue.Clip(topicqueue.OneLine(said), maxLine)
	if o.Answer.Failed {
		p.tell("%s for %q failed: %s", o.Tool, query, said)
		if len(p.failures) < maxFailures {
			p.failures = append(p.failures, fmt.Sprintf("%s for %q failed: %s", o.Tool, query, said))
		}
		return
	}
	readable := 0
	for _, s := range o.Answer.Sources {
		if strings.TrimSpace(s.Text) == "" {
			continue
		}
		readable++
		if s.ID == "" {
			s.ID = topicqueue.SourceID(s)
		}
		if s.Kind == topicqueue.SourceCode && o.Purpose != "" { // the title of a program is its purpose
			s.Title = "Program output: " + o.Purpose
		}
		if !p.noted[s.ID] {
			p.noted[s.ID] = true
			o.fresh = append(o.fresh, s)
		}
	}
	switch {
	case readable == 0 && said != "": // a hint what else to try
		p.tell("%s for %q found nothing: %s", o.Tool, query, said)
	case readable == 0:
		p.tell("%s for %q found nothing", o.Tool, query)
	case len(o.fresh) == 0:
		p.tell("%s for %q found only what this block has read already", o.Tool, query)
	}
}
