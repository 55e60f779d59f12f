package researching

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// maxPlaces is the maximum number of sections of one document in a reference.
const maxPlaces = 3

// emitThought sends the block's reasoning and planned queries to watchers.
func (w *work) emitThought(ctx context.Context, k int, d decision) error {
	thought := topicqueue.OneLine(d.thought)
	if len(d.calls) > 0 && (thought == "" || w.Model == nil) {
		queries := make([]string, len(d.calls))
		for i, c := range d.calls {
			queries[i] = shownQuery(c.Query)
		}
		thought = strings.TrimSpace(thought + " Asking: " + strings.Join(queries, "; "))
	}
	if thought == "" {
		thought = "Nothing is left to ask."
	}
	e := topicqueue.NewEvent(fmt.Sprintf("%s/%d/thought", w.block.ID, k), topicqueue.StatusThought, topicqueue.Thought{
		QuestionID: w.block.Number(),
		Thought:    topicqueue.Clip(thought, maxThought),
	})
	about := topicqueue.About{Iteration: k, Sufficient: d.sufficient}
	for _, c := range d.calls {
		about.Calls = append(about.Calls, topicqueue.ToolCall{Tool: c.Tool, Query: shownQuery(c.Query)})
	}
	if k == 1 {
		about.Title = w.block.Title
	}
	if w.Emit == nil {
		return nil
	}
	if err := w.Emit(ctx, e.With(about)); err != nil {
		return fmt.Errorf("emit %s: %w", e.Key, err)
	}
	return nil
}

// shownQuery shortens a query for watchers.
func shownQuery(query string) string { return topicqueue.Clip(topicqueue.OneLine(query), maxLine) }

// References returns the events with the sources that a block found, one per call that found some. Each maps address or
// document key to title and sections. key: prefix of their keys; iteration: 0 means that of each trace.
func References(b topicqueue.Block, key string, iteration int, traces []topicqueue.ToolTrace) []topicqueue.Event {
	var events []topicqueue.Event
	for len(traces) > 0 {
		first, n := traces[0], 1
		for n < len(traces) && traces[n].ToolID == first.ToolID {
			n++
		}
		e := topicqueue.NewEvent(fmt.Sprintf("%s/reference/%d", key, len(events)+1), topicqueue.StatusReference,
			topicqueue.Reference{QuestionID: b.Number(), References: describe(traces[:n])})
		e.Placement.Call = len(events)
		events = append(events, e.With(topicqueue.About{Iteration: cmp.Or(iteration, first.Iteration),
			Tool: first.ToolType, Query: shownQuery(first.Query)}))
		traces = traces[n:]
	}
	return events
}

func (a *assignment) references(k int, traces []topicqueue.ToolTrace) []topicqueue.Event {
	return References(a.block, fmt.Sprintf("%s/%d", a.block.ID, k), k, traces)
}

// describe returns the places of sources, by address or document key.
func describe(traces []topicqueue.ToolTrace) map[string]string {
	places := map[string][]string{}
	for _, t := range traces {
		key := cmp.Or(t.Source.URL, t.Source.Document, t.Source.ID)
		if p := topicqueue.Clip(place(t.Source), maxLine); !slices.Contains(places[key], p) && len(places[key]) < maxPlaces {
			places[key] = append(places[key], p)
		}
	}
	references := make(map[string]string, len(places))
	for key, list := range places {
		references[key] = strings.Join(list, "; ")
	}
	return references
}

// place returns the human-readable place of a source: title, section and page.
func place(s topicqueue.Source) string {
	parts := []string{cmp.Or(topicqueue.OneLine(s.Title), s.Name()), s.Within()}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}
