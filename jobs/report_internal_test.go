package jobs

import (
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

func TestJudgeResearchWithoutModel(t *testing.T) {
	t.Parallel()
	block := func(fallbacks []string, claims ...topicqueue.Claim) reporting.BlockEvidence {
		return reporting.BlockEvidence{
			Block:  topicqueue.Block{Status: topicqueue.BlockCompleted, Fallbacks: fallbacks},
			Traces: []topicqueue.ToolTrace{{Claims: claims}},
		}
	}
	quoted := topicqueue.Claim{Text: "Tides rise.", Quote: "Tides rise."}
	written := topicqueue.Claim{Text: "The water rises.", Quote: "Tides rise."}
	gone := []string{"decide: went on with queries of the plan"}
	for _, tt := range []struct {
		name   string
		blocks []reporting.BlockEvidence
		want   topicqueue.RunState
	}{
		{"no model configured", []reporting.BlockEvidence{block(nil, quoted)}, topicqueue.RunCompleted},
		{"the model wrote all", []reporting.BlockEvidence{block(nil, written)}, topicqueue.RunCompleted},
		{"it failed at a step", []reporting.BlockEvidence{block(gone, quoted, written)}, topicqueue.RunCompleted},
		{"it failed at all", []reporting.BlockEvidence{block(gone, quoted)}, topicqueue.RunPartial},
		{"in half of the blocks", []reporting.BlockEvidence{block(gone, quoted), block(nil, written)}, topicqueue.RunPartial},
		{"in one of three", []reporting.BlockEvidence{block(gone, quoted), block(nil, written), block(nil, written)}, topicqueue.RunCompleted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			state, reason := judge(reporting.Input{Blocks: tt.blocks}, reporting.Report{}, "")
			if state != tt.want || (reason == "") != (state == topicqueue.RunCompleted) {
				t.Errorf("%s (%s), want %s", state, reason, tt.want)
			}
			if reason != "" && !strings.HasSuffix(reason, " ("+gone[0]+")") {
				t.Errorf("the reason does not say why: %s", reason)
			}
		})
	}
}

func TestReportWithoutTheModelSaysWhy(t *testing.T) {
	t.Parallel()
	rep := reporting.Report{Fallbacks: []string{"outline", "introduction"}}
	const want = "report without the model: outline and 1 more (model.test answered 503)"
	if state, reason := judge(reporting.Input{}, rep, "model.test answered 503"); state != topicqueue.RunPartial || reason != want {
		t.Errorf("%s (%s)", state, reason)
	}
}

// A reason that says no more than that there is no evidence is not repeated.
func TestNoEvidence(t *testing.T) {
	t.Parallel()
	in := reporting.Input{Blocks: []reporting.BlockEvidence{{Block: topicqueue.Block{ID: "block_1", Reason: recurring.NothingFound}}}}
	const want = "no evidence was found: the only topic block has no usable source"
	if got := noEvidence(in); got != want {
		t.Errorf("got %s", got)
	}
	in.Blocks[0].Block.Fallbacks = []string{"decide: model.test answered 503"}
	if got := noEvidence(in); got != want+"; without the model: decide: model.test answered 503" {
		t.Errorf("got %s", got)
	}
}

// A run without evidence that could not pay its model says so: other words for the topic would not help it.
func TestNoEvidenceForWantOfMoney(t *testing.T) {
	t.Parallel()
	in := reporting.Input{Blocks: []reporting.BlockEvidence{{Block: topicqueue.Block{ID: "block_1", Reason: "nothing was found"}}}}
	if got := noEvidence(in); strings.Contains(got, "budget") {
		t.Errorf("without a budget: %s", got)
	}
	in.Blocks[0].Block.Fallbacks = []string{"decide: block_1/1: " + llm.ErrBudget.Error()}
	in.Run.Options.NightBudget = topicqueue.Budget{USD: 1}
	const want = "the budget of the night had nothing for the model, and without it no evidence was found: the only topic block has no usable source; block_1: nothing was found"
	if got := noEvidence(in); got != want {
		t.Errorf("got %s", got)
	}
}
