package tools_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// TestReportEvidence: the sources of a report are ranked by their best passage, without duplicates, and are unchanged.
func TestReportEvidence(t *testing.T) {
	t.Parallel()
	sources := []topicqueue.Source{
		{Title: "Dunes", Hash: "a", Document: "dunes.md", Text: "Dunes move.\n\nThe highest dune of the coast is 30 m high."},
		{Title: "Tides", Hash: "b", Document: "tides.md", Text: "The tide is 4 m high."},
		{Title: "Dunes", Hash: "a", Document: "dunes.md", Text: "Dunes move.\n\nThe highest dune of the coast is 30 m high."},
		{Title: "Nothing", Hash: "c", Document: "empty.md", Text: " "},
	}
	tool := tools.NewReportEvidence(sources, 5)
	for query, want := range map[string]string{"How high is the highest dune?": "dunes.md tides.md", "tide": "tides.md",
		"quantum": ""} {
		r, err := tool.Call(t.Context(), tools.Call{Query: query})
		var got []string
		for _, s := range r.Sources {
			got = append(got, s.Document)
			if s.ID != topicqueue.SourceID(s) || !strings.Contains(r.Text, s.Text) {
				t.Errorf("%s: %+v", query, s)
			}
		}
		if err != nil || r.Failed || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v", query, got, err)
		}
	}
	if r, err := tool.Call(t.Context(), tools.Call{Query: " "}); err != nil || !r.Failed {
		t.Errorf("without a query: %+v, %v", r, err)
	}
	if r, err := tools.NewReportEvidence(sources, 1).Call(t.Context(), tools.Call{Query: "high"}); err != nil ||
		len(r.Sources) != 1 {
		t.Errorf("one source: %+v, %v", r, err)
	}
}
