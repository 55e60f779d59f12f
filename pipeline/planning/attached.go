package planning

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// Attached provides the documents attached to a run; *knowledge.Base implements it.
type Attached interface {
	Documents(ctx context.Context) ([]knowledge.Document, error)
	Passages(ctx context.Context, key string) ([]topicqueue.Source, error)
}

const (
	summariesBytes = 4_000 // all summaries together, because every planning prompt includes them
	leastSummary   = 120   // minimum bytes per document
	namedHeadings  = 6     // headings per document
)

// Summarize returns the documents attached to a run, each with a summary: title, beginning, headings and the passage
// most relevant to the topic. The error is one of reading the documents.
func Summarize(ctx context.Context, topic string, from Attached) ([]topicqueue.Document, error) {
	documents, err := from.Documents(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the attached documents: %w", err)
	}
	out := make([]topicqueue.Document, len(documents))
	each := max(leastSummary, summariesBytes/max(1, len(documents)))
	for i, d := range documents {
		passages, err := from.Passages(ctx, d.Key)
		if err != nil {
			return nil, fmt.Errorf("read the attached document %s: %w", d.Key, err)
		}
		out[i] = topicqueue.Document{FileName: d.Key, Summary: topicqueue.Clip(summary(d, passages, topic), each)}
	}
	return out, nil
}

// headings returns the first distinct headings of a document.
func headings(passages []topicqueue.Source) []string {
	var out []string
	for _, p := range passages {
		for _, heading := range p.Section {
			if len(out) < namedHeadings && !slices.Contains(out, heading) {
				out = append(out, heading)
			}
		}
	}
	return out
}

// summary returns the summary of a document.
func summary(doc knowledge.Document, passages []topicqueue.Source, topic string) string {
	if len(passages) == 0 {
		return doc.Title
	}
	parts := []string{doc.Title, lead(passages[0].Text)}
	if h := headings(passages); len(h) > 0 {
		parts = append(parts, strings.Join(h, "; "))
	}
	docs := make([]text.Document, len(passages))
	for i, p := range passages {
		docs[i] = text.Document{Text: p.Text}
	}
	best, scores := 0, text.BM25(topic, docs)
	for i, score := range scores {
		if score > scores[best] {
			best = i
		}
	}
	if best > 0 {
		parts = append(parts, lead(passages[best].Text))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " | ")
}
