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
