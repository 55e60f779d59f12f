package answering

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"nightdesk/topicqueue"
)

// emitThought sends the model's reasoning and the current queries to watchers.
func (w *work) emitThought(ctx context.Context, said string, outcomes []outcome) error {
	if w.Emit == nil {
		return nil
	}
	about := topicqueue.About{Iteration: max(1, w.asked)}
	var queries []string
	for _, o := range outcomes {
		if o.made {
			query := topicqueue.Clip(topicqueue.OneLine(o.query), maxLine)
			queries = append(queries, query)
			about.Calls = append(about.Calls, topicqueue.ToolCall{Tool: o.tool, Query: query})
		}
	}
	thought := topicqueue.Clip(topicqueue.OneLine(said), maxQuery)
	if len(queries) > 0 {
		thought = strings.TrimSpace(thought + " Asking: " + strings.Join(queries, "; "))
	}
	thought = cmp.Or(thought, "No call could be made.")
	if len(w.outcomes) == len(outcomes) {
		about.Title = w.block.Title
	}
	e := topicqueue.NewEvent(fmt.Sprintf("%s/%s/thought", w.block.ID, outcomes[0].id), topicqueue.StatusThought,
		topicqueue.Thought{QuestionID: w.block.Number(), Thought: thought})
	if err := w.Emit(ctx, e.With(about)); err != nil {
		return fmt.Errorf("emit %s: %w", e.Key, err)
	}
	return nil
}

// references returns the events with the sources of the answer, one per call that found some.
func references(block topicqueue.Block, traces []topicqueue.ToolTrace) []topicqueue.Event {
	var events []topicqueue.Event
	for len(traces) > 0 {
		first, n := traces[0], 1
		for n < len(traces) && traces[n].ToolID == first.ToolID {
			n++
		}
		named := map[string]string{}
		for _, t := range traces[:n] {
			s := t.Source
			place := topicqueue.OneLine(cmp.Or(s.Title, s.Document+s.URL))
			if len(s.Section) > 0 && s.Section[len(s.Section)-1] != s.Title {
				place += ", " + topicqueue.OneLine(s.Section[len(s.Section)-1])
			}
			named[cmp.Or(s.URL, s.Document, s.ID)] = topicqueue.Clip(place, maxLine)
		}
		e := topicqueue.NewEvent(fmt.Sprintf("%s/reference/%d", block.ID, len(events)+1), topicqueue.StatusReference,
			topicqueue.Reference{QuestionID: block.Number(), References: named})
		e.Placement.Call = len(events)
		events = append(events, e.With(topicqueue.About{Iteration: first.Iteration, Tool: first.ToolType,
			Query: topicqueue.Clip(topicqueue.OneLine(first.Query), maxLine)}))
		traces = traces[n:]
	}
	return events
}
