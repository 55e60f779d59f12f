package researching

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// maxPlaces bounds the sections that a reference names of one document.
const maxPlaces = 3

// emitThought tells watchers what the block thinks and is going to ask.
func (w *work) emitThought(ctx context.Context, k int, d decision) error {
	thought := topicqueue.OneLine(d.thought)
	if len(d.calls) > 0 && (thought == "" || w.Model == nil) {
		queries := make([]string, len(d.calls))
		for i, c := range d.calls {
			queries[i] = topicqueue.Clip(topicqueue.OneLine(c.query), maxLine)
		}
		thought = strings.TrimSpace(thought + " Asking: " + strings.Join(queries, "; "))
	}
	if thought == "" {
		thought = "Nothing is left to ask."
	}
	return w.emit(ctx, k, "thought", topicqueue.StatusThought, topicqueue.Thought{
		QuestionID: w.block.Number(),
		Thought:    topicqueue.Clip(thought, maxThought),
	})
}

// emitReferences tells watchers which sources the iteration has found: address or document key -> title and sections.
func (w *work) emitReferences(ctx context.Context, k int, traces []topicqueue.ToolTrace) error {
	places := map[string][]string{}
	for _, t := range traces {
		key := t.Source.URL
		if key == "" {
			key = t.Source.Document
		}
		if key == "" {
			key = t.Source.ID
		}
		if p := place(t.Source); !slices.Contains(places[key], p) && len(places[key]) < maxPlaces {
			places[key] = append(places[key], p)
		}
	}
	if len(places) == 0 {
		return nil
	}
	references := make(map[string]string, len(places))
	for key, list := range places {
		references[key] = strings.Join(list, "; ")
	}
	return w.emit(ctx, k, "reference", topicqueue.StatusReference, topicqueue.Reference{
		QuestionID: w.block.Number(),
		References: references,
	})
}

func (w *work) emit(ctx context.Context, k int, name, status string, payload any) error {
	if w.Emit == nil {
		return nil
	}
	e := topicqueue.NewEvent(fmt.Sprintf("%s/%d/%s", w.block.ID, k, name), status, payload)
	e.BlockID = w.block.ID
	e.Placement = topicqueue.Placement{Lane: w.block.Number() - 1, Step: k - 1}
	if err := w.Emit(ctx, e); err != nil {
		return fmt.Errorf("emit %s of %s/%d: %w", name, w.block.ID, k, err)
	}
	return nil
}
