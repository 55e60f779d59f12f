package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"nightdesk/pipeline/knowledge"
	"nightdesk/topicqueue"
)

// Retriever searches the knowledge base for its tools; *knowledge.Base implements it.
type Retriever interface {
	// Search and Item return at most limit passages, best first, or an empty list if nothing matches.
	Search(ctx context.Context, query string, limit int, mode knowledge.Mode) ([]knowledge.Passage, error)
	Item(ctx context.Context, name string, limit int) ([]knowledge.Passage, error)
}

var _ Retriever = (*knowledge.Base)(nil)

// passageTool is a tool that answers with passages. Its three variants differ in name, description and retrieval.
type passageTool struct {
	name, description string
	limit             int
	retrieve          func(ctx context.Context, query string, limit int) ([]knowledge.Passage, error)
	empty             string // advice after a search without results
}

// Name returns the tool's name.
func (t *passageTool) Name() string { return t.name }

// Description returns the description for the model.
func (t *passageTool) Description() string { return strings.TrimSpace(t.description) }

// Call retrieves passages. If the knowledge base cannot be read, the Result has Failed set.
func (t *passageTool) Call(ctx context.Context, call Call) (Result, error) {
	query := strings.TrimSpace(call.Query)
	if query == "" {
		return Result{Failed: true, Text: t.name + " needs a query; it was called without one."}, nil
	}
	passages, err := t.retrieve(ctx, query, t.limit)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		return Result{Failed: true, Text: fmt.Sprintf("%s could not search the knowledge base: %v.", t.name, err)}, nil
	}
	if len(passages) == 0 {
		return Result{Text: fmt.Sprintf("The knowledge base has nothing for %q. %s", query, t.empty)}, nil
	}
	now := time.Now().UTC()
	var text strings.Builder
	result := Result{Sources: make([]topicqueue.Source, len(passages))}
	for i, p := range passages {
		s := p.Source(now)
		result.Sources[i] = s
		if i > 0 {
			text.WriteString("\n\n")
		}
		fmt.Fprintf(&text, "[%d] %s\n%s", i+1, heading(s), s.Text)
	}
	result.Text = text.String()
	return result, nil
}

// heading returns "title > section > subsection (document, p. 3; Ane Holt, Harbour Authority, 2024-05)".
func heading(s topicqueue.Source) string {
	place := s.Document
	if s.Page > 0 {
		place = fmt.Sprintf("%s, p. %d", place, s.Page)
	}
	if about := s.Label(); about != "" {
		place += "; " + about
	}
	return strings.Join(append([]string{s.Title}, s.Section...), " > ") + " (" + place + ")"
}
