package researching

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// call is one tool call that is going to be made.
type call struct {
	id    string // block_3/2.1
	tool  string
	query string
	known fetch.Version // of a page
}

// outcome is what became of a call.
type outcome struct {
	call
	answer tools.Answer
	fresh  []topicqueue.Source // sources that no note of this block has read
	only   []recurring.Unit    // of the one fresh source: what is news in it; nil: all of it
}

// callList collects the calls of one iteration; it refuses what has been asked before.
type callList struct {
	w     *work
	k     int
	asked issued
	calls []call
}

func (l *callList) full() bool { return len(l.calls) >= l.w.maxActions() }

func (l *callList) has(tool, query string) bool {
	key := issuedKey(tool, query)
	for _, c := range l.calls {
		if issuedKey(c.tool, c.query) == key {
			return true
		}
	}
	return l.asked.has(tool, query)
}

// add takes a call unless the list is full or has it, or it was asked before.
func (l *callList) add(tool, query string) bool {
	if l.full() || l.has(tool, query) {
		return false
	}
	l.calls = append(l.calls, call{
		id: fmt.Sprintf("%s/%d.%d", l.w.block.ID, l.k, len(l.calls)+1), tool: tool, query: query,
	})
	return true
}

// checkActions makes calls of what a model asked for. What is refused becomes a line for the next iteration. What another
// block has asked is no reason to refuse: this one gets the same answer.
func (w *work) checkActions(k int, actions []prompts.Action) []call {
	l := callList{w: w, k: k, asked: w.own}
	for _, a := range actions {
		name := topicqueue.Clip(topicqueue.OneLine(strings.TrimSpace(a.ToolType)), maxLine)
		tool, ok := meant(name, w.tools)
		switch {
		case !ok:
			w.tell("tool %q does not exist and was not called; the tools are: %s", name, strings.Join(w.toolNames(), ", "))
			continue
		case tool != name:
			w.tell("tool %q does not exist; its query went to %s", name, tool)
		}
		query := strings.TrimSpace(prompts.Unmarked(strings.ToValidUTF8(a.Query, "")))
		if !verbatim(tool) {
			query = topicqueue.Clip(topicqueue.OneLine(query), maxClaim)
		}
		switch {
		case !verbatim(tool) && topicqueue.CanonicalQuery(query) == "", query == "":
			w.tell("a call of %s had no query and was dropped", tool)
		case l.has(tool, query):
			w.tell("%s was not asked again for %q: this block has asked it before", tool, topicqueue.Clip(topicqueue.OneLine(query), maxLine))
		case !l.add(tool, query):
			w.tell("%s was not asked for %q: at most %d calls in one iteration", tool, topicqueue.Clip(topicqueue.OneLine(query), maxLine), w.maxActions())
		}
	}
	return l.calls
}

func (w *work) toolNames() []string {
	names := make([]string, len(w.tools))
	for i, t := range w.tools {
		names[i] = t.Name()
	}
	return names
}

// plannedCalls are the calls of an iteration for which no model has planned any: starters that are still unused, then
// the title with words of the overview and of what was found. It returns none when all of that has been asked.
func (w *work) plannedCalls(k int, phase string) []call {
	planned := w.plannedTools(k, phase)
	if len(planned) == 0 {
		return nil
	}
	l := callList{w: w, k: k, asked: w.issued}
	tool := planned[0]
	for _, c := range w.starters(tool) {
		if c.tool == tool {
			c.tool = planned[len(l.calls)%len(planned)]
		}
		l.add(c.tool, c.query)
	}
	title := w.titleQuery()
	for _, word := range w.followUps() {
		if l.full() {
			break
		}
		if query := strings.TrimSpace(title + " " + word); topicqueue.CanonicalQuery(query) != topicqueue.CanonicalQuery(title) {
			l.add(planned[len(l.calls)%len(planned)], query)
		}
	}
	return l.calls
}

// starters are the questions that a block comes with, for the tool that is given: the plan's queries, items that the
// title or the topic names, and the title.
func (w *work) starters(tool string) []call {
	var starters []call
	_, items := w.tools.Lookup(queryItem)
	for _, q := range w.block.Queries {
		switch q = topicqueue.OneLine(q); {
		case topicqueue.CanonicalQuery(q) == "":
		case items && topicqueue.IsPlace(q):
			starters = append(starters, call{tool: queryItem, query: q})
		default:
			starters = append(starters, call{tool: tool, query: q})
		}
	}
	if items {
		for _, item := range namedItems(w.block.Title + "\n" + w.topic) {
			starters = append(starters, call{tool: queryItem, query: item})
		}
	}
	if title := w.titleQuery(); topicqueue.CanonicalQuery(title) != "" {
		starters = append(starters, call{tool: tool, query: title})
	}
	return starters
}

// titleQuery asks for what the block is called.
func (w *work) titleQuery() string {
	if len(w.homes()) > 0 { // a heading of one document says little without the topic
		return topicqueue.Clip(topicqueue.OneLine(w.subject()), maxClaim)
	}
	return topicqueue.Clip(topicqueue.OneLine(w.block.Title), maxClaim)
}

// grounded makes sure that a block without evidence asks what it was planned for, whatever its model has in mind: one
// of the calls is a search for a starter, the first that the run has not asked, in place of the last call where the
// list is full.
func (w *work) grounded(k int, calls []call) []call {
	tool, ok := searchTool(w.tools)
	if w.claims > 0 || !ok {
		return calls
	}
	asked := map[string]bool{}
	for _, c := range calls {
		if !verbatim(c.tool) {
			asked[topicqueue.CanonicalQuery(c.query)] = true
		}
	}
	// Items are looked up, which finds nothing where no document has them; a place of the corpus is certain.
	starters := slices.DeleteFunc(w.starters(tool), func(c call) bool { return c.tool != tool && !topicqueue.IsPlace(c.query) })
	if slices.ContainsFunc(starters, func(c call) bool { return asked[topicqueue.CanonicalQuery(c.query)] }) {
		return calls
	}
	l := callList{w: w, k: k, asked: w.issued, calls: calls}
	if l.full() {
		l.calls = slices.Clone(calls[:len(calls)-1])
	}
	for _, c := range starters {
		if !l.add(c.tool, c.query) {
			continue
		}
		if len(l.calls) == len(calls) {
			dropped := calls[len(calls)-1]
			w.tell("%s was not asked for %q: without evidence, %q had to be asked first", dropped.tool, topicqueue.Clip(topicqueue.OneLine(dropped.query), maxLine), topicqueue.Clip(c.query, maxLine))
		}
		return l.calls
	}
	return calls
}

// plannedTools are the tools among which the calls of iteration k go round: the knowledge base early, then web and papers
// in turn, late everything; in each case of those that are enabled.
func (w *work) plannedTools(k int, phase string) []string {
	var outside []string
	for _, name := range []string{webSearch, paperSearch} {
		if _, ok := w.tools.Lookup(name); ok {
			outside = append(outside, name)
		}
	}
	base, ok := firstOf(w.tools, ragHybrid, ragNaive)
	switch {
	case !ok && len(outside) == 0:
		return nil
	case ok && (phase == prompts.PhaseEarly || len(outside) == 0):
		return []string{base}
	case phase == prompts.PhaseLate && ok:
		return append([]string{base}, outside...)
	case phase == prompts.PhaseMiddle:
		return []string{outside[k%len(outside)]}
	}
	return outside
}

// followUps are words that turn a title into new queries: of the overview, then of the claims, best first.
func (w *work) followUps() []string {
	words := extractive.Keywords([]string{w.block.Overview}, 4)
	var texts []string
	for _, t := range w.traces {
		for _, c := range t.Claims {
			texts = append(texts, c.Text)
		}
	}
	if len(texts) > 0 {
		words = append(words, extractive.Keywords(texts, 2*w.maxActions()*max(1, w.run.Options.MaxIterations))...)
	}
	return words
}

// act makes all calls at once and returns their outcomes in order. The error is for what must stop the block.
func (w *work) act(ctx context.Context, calls []call) ([]outcome, error) {
	outcomes := make([]outcome, len(calls))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(w.maxActions())
	for i, c := range calls {
		group.Go(func() error {
			o, err := w.make(groupCtx, c, false, nil)
			outcomes[i] = o
			return err
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	for i := range outcomes {
		w.takeFresh(&outcomes[i])
	}
	return outcomes, nil
}

// takeFresh gives an outcome the sources that are new to the block and reports what it brought. The first call that
// returned a source has it.
func (w *work) takeFresh(o *outcome) {
	query := topicqueue.Clip(topicqueue.OneLine(o.query), maxLine)
	if o.answer.Failed {
		w.tell("%s for %q failed: %s", o.tool, query, topicqueue.Clip(topicqueue.OneLine(o.answer.Text), maxLine))
		return
	}
	readable := 0
	for _, s := range o.answer.Sources {
		if strings.TrimSpace(s.Text) == "" {
			continue
		}
		readable++
		if s.ID == "" {
			s.ID = topicqueue.SourceID(s)
		}
		if !w.noted[s.ID] {
			w.noted[s.ID] = true
			o.fresh = append(o.fresh, s)
		}
	}
	switch {
	case readable == 0:
		w.tell("%s for %q found nothing", o.tool, query)
	case len(o.fresh) == 0:
		w.tell("%s for %q found only what this block has read already", o.tool, query)
	}
}
