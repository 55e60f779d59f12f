package reporting

import (
	"testing"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/report"
	"nightdesk/topicqueue"
)

// A contradiction is told where a paragraph has both sides, by the documents they cite.
func TestTells(t *testing.T) {
	t.Parallel()
	w := &writer{returned: map[string]topicqueue.Source{}}
	for id, document := range map[string]string{
		"CIT-1-01": "court.md", "CIT-1-02": "statistics.md", "CIT-2-01": "court.md", "CIT-3-01": "paper.md",
	} {
		source := topicqueue.Source{ID: id, Document: document}
		w.returned[id] = source
		w.claims = append(w.claims, claim{Claim: topicqueue.Claim{CitationID: id}, Source: source})
	}
	c := evidence.Contradiction{
		A: evidence.Side{Value: "310", Citations: []string{"CIT-1-01"}}, B: evidence.Side{Value: "270",
			Citations: []string{"CIT-1-02"}},
	}
	for body, want := range map[string]bool{
		"The court says 310 [CIT-1-01], the table 270 [CIT-1-02].":               true,
		"The court says so [CIT-1-01].\n\nThe table does not [CIT-1-02].":        false,
		"The court says 310 [CIT-2-01], the table 270 [CIT-1-02].":               true,
		"The court says 310 [CIT-2-01], and a paper of 270 pages so [CIT-3-01].": false,
	} {
		if got := w.tells([]part{{partText: partText{Blocks: report.Parse(body)}}}, c); got != want {
			t.Errorf("%q: %v", body, got)
		}
	}
}
