package reporting_test

import (
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

// TestReviewSparesTheQuestionForTheSame: what the last review has said of the same blocks is not asked again.
func TestReviewSparesTheQuestionForTheSame(t *testing.T) {
	t.Parallel()
	seen := []string{"block_1", "block_2", "block_3", "block_4"} // those of the fixture with evidence
	pair := []topicqueue.SameBlocks{{Title: "Replication", BlockIDs: []string{"block_2", "block_4"}}}
	for _, tc := range []struct {
		name   string
		review topicqueue.Review
		asks   bool
		merged int
	}{
		{"no review", topicqueue.Review{}, true, 0},
		{"of these blocks, two are one", topicqueue.Review{Blocks: seen, Same: pair}, false, 1},
		{"of these blocks, none are one", topicqueue.Review{Blocks: seen}, false, 0},
		{"before another block found something", topicqueue.Review{Blocks: seen[:3], Same: pair}, true, 0},
		{"not done", topicqueue.Review{NotDone: "the model was away"}, true, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			in := evidence(t, topicqueue.CitationAnchors)
			in.Review = tc.review
			var asked []string
			r := reporting.Reporter{Now: now, Parallel: 1, Model: modelFunc(func(req llm.Request) (string, error) {
				asked = append(asked, req.Prompt.Name)
				if req.Prompt.Name == "deduplicate" {
					return `{"groups":[]}`, nil
				}
				return "", llm.ErrUnavailable
			})}
			rep, err := r.Report(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Contains(asked, "deduplicate"); got != tc.asks || rep.Statistics.MergedBlocks != tc.merged {
				t.Errorf("asked: %v, %d merged; want %v, %d", got, rep.Statistics.MergedBlocks, tc.asks, tc.merged)
			}
			if got := strings.Contains(rep.Markdown, "Whether the evidence has gaps was not checked"); got != (tc.review.NotDone != "") {
				t.Errorf("the note says that it was not reviewed: %v", got)
			}
		})
	}
}
