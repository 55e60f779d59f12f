package researching

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// call is one tool call that is going to be made.
type call struct {
	id    string // block_3/2.1
	tool  string
	query string
}

// outcome is what became of a call.
type outcome struct {
	call
	answer tools.Answer
	fresh  []topicqueue.Source // sources that no note of this block has read
}

// callList collects the calls of one iteration; it refuses what must not be called.
type callList struct {
	w     *work
	k     int
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
	return l.w.issued.has(tool, query)
}

// add takes a call unless the list is full or the run has asked it before.
func (l *callList) add(tool, query string) bool {
	if l.full() || l.has(tool, query) {
		return false
	}
	l.calls = append(l.calls, call{
		id: fmt.Sprintf("%s/%d.%d", l.w.block.ID, l.k, len(l.calls)+1), tool: tool, query: query,
	})
	return true
}

// checkActions makes calls of what a model asked for. What is refused becomes a line for the next iteration.
func (w *work) checkActions(k int, actions []prompts.Action) []call {
	l := callList{w: w, k: k}
	for _, a := range actions {
		tool, query := strings.TrimSpace(a.ToolType), strings.TrimSpace(strings.ToValidUTF8(a.Query, ""))
		if !verbatim(tool) {
			query = clip(oneLine(query), maxClaim)
		}
		if _, ok := w.tools.Lookup(tool); !ok {
			instead, ok := searchTool(w.tools)
			if !ok {
				w.tell("tool %q does not exist and was not called", clip(oneLine(tool), maxLine))
				continue
			}
			w.tell("tool %q does not exist; its query went to %s", clip(oneLine(tool), maxLine), instead)
			tool, query = instead, clip(oneLine(query), maxClaim)
		}
		switch {
		case !verbatim(tool) && topicqueue.CanonicalQuery(query) == "", query == "":
			w.tell("a call of %s had no query and was dropped", tool)
		case l.has(tool, query):
			w.tell("%s was not asked again for %q: this run has asked it before", tool, clip(oneLine(query), maxLine))
		case !l.add(tool, query):
			w.tell("%s was not asked for %q: at most %d calls in one iteration", tool, clip(oneLine(query), maxLine), w.maxActions())
		}
	}
	return l.calls
}

// plannedCalls are the calls of an iteration for which no model has planned any: starter queries that are still
// unused, then the title, then the title with words of the overview and of what was found. It returns none when all
// of that has been asked.
func (w *work) plannedCalls(k int, phase string) []call {
	l := callList{w: w, k: k}
	tool, ok := w.plannedTool(phase)
	if !ok {
		return nil
	}
	_, items := w.tools.Lookup(queryItem)
	for _, q := range w.block.Queries {
		q = oneLine(q)
		switch {
		case topicqueue.CanonicalQuery(q) == "":
		case items && topicqueue.IsPlace(q):
			l.add(queryItem, q)
		default:
			l.add(tool, q)
		}
	}
	if items {
		for _, item := range namedItems(w.block.Title + "\n" + w.topic) {
			l.add(queryItem, item)
		}
	}
	title := clip(oneLine(w.block.Title), maxClaim)
	if len(w.homes()) > 0 { // a heading of one document says little without the topic
		title = clip(oneLine(w.subject()), maxClaim)
	}
	if topicqueue.CanonicalQuery(title) != "" {
		l.add(tool, title)
	}
	for _, word := range w.followUps() {
		if l.full() {
			break
		}
		if query := strings.TrimSpace(title + " " + word); topicqueue.CanonicalQuery(query) != topicqueue.CanonicalQuery(title) {
			l.add(tool, query)
		}
	}
	return l.calls
}

// plannedTool prefers the knowledge base in early iterations and the web later, where both are enabled.
func (w *work) plannedTool(phase string) (string, bool) {
	if _, ok := w.tools.Lookup(webSearch); ok && phase != prompts.PhaseEarly {
		return webSearch, true
	}
	return searchTool(w.tools)
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
			answer, err := w.Runner.Call(groupCtx, w.run.ID, c.tool, tools.Call{ToolID: c.id, Query: c.query})
			if err != nil {
				return fmt.Errorf("call %s for %s: %w", c.tool, c.id, err)
			}
			outcomes[i] = outcome{call: c, answer: answer}
			return nil
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
	query := clip(oneLine(o.query), maxLine)
	if o.answer.Failed {
		w.tell("%s for %q failed: %s", o.tool, query, clip(oneLine(o.answer.Text), maxLine))
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
