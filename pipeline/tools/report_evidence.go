package tools

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

//go:embed report_evidence.md
var reportEvidenceDescription string

// NewReportEvidence returns report_evidence, which searches the sources of an ended run for a query. It ranks them by
// the BM25 score of their best passage. sources: with Text. limit: sources per call.
func NewReportEvidence(sources []topicqueue.Source, limit int) Tool {
	e := &reportEvidence{limit: limit}
	seen := map[string]bool{}
	for _, s := range sources {
		if s.ID == "" {
			s.ID = topicqueue.SourceID(s)
		}
		if strings.TrimSpace(s.Text) == "" || seen[s.ID] {
			continue
		}
		seen[s.ID] = true
		for _, p := range text.Passages(s.Text, nil) {
			e.passages = append(e.passages, len(e.sources))
			e.docs = append(e.docs, text.Document{Heading: strings.Join(append([]string{s.Title}, s.Section...), " "),
				Text: s.Text[p.Start:p.End]})
		}
		e.sources = append(e.sources, s)
	}
	return e
}

type reportEvidence struct {
	sources  []topicqueue.Source
	passages []int // for each of docs, the index of its source
	docs     []text.Document
	limit    int
}

// Name returns the tool's name.
func (e *reportEvidence) Name() string { return NameReportEvidence }

// Description returns the description for the model.
func (e *reportEvidence) Description() string { return strings.TrimSpace(reportEvidenceDescription) }

// Call returns the sources that match the query, best first.
func (e *reportEvidence) Call(_ context.Context, call Call) (Result, error) {
	query := strings.TrimSpace(call.Query)
	if query == "" {
		return Result{Failed: true, Text: NameReportEvidence + " needs a query; it was called without one."}, nil
	}
	best := make([]float64, len(e.sources))
	for i, score := range text.BM25(query, e.docs) {
		best[e.passages[i]] = max(best[e.passages[i]], score)
	}
	order := make([]int, 0, len(best))
	for i, score := range best {
		if score > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(best[b], best[a]) })
	if len(order) == 0 {
		return Result{Text: fmt.Sprintf("The sources of the report have nothing for %q. Use another tool.", query)}, nil
	}
	var r Result
	var whole strings.Builder
	for n, i := range order[:min(len(order), e.limit)] {
		s := e.sources[i]
		r.Sources = append(r.Sources, s)
		if n > 0 {
			whole.WriteString("\n\n")
		}
		fmt.Fprintf(&whole, "[%d] %s\n%s", n+1, heading(s), s.Text)
	}
	r.Text = whole.String()
	return r, nil
}
