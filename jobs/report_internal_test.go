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
	quoted := topicqueue.Claim{Text: "Tides rise: - at night", Quote: "Tides rise:\n\n- at night"}
	written := topicqueue.Claim{Text: "The water rises.", Quote: "Tides rise."}
	gone := []string{"decide: decide: model.test answered 503 (block_1/1.1)"}
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
			if reason != "" && !strings.HasSuffix(reason, " (model.test answered 503); check the model server, then retry the run") {
				t.Errorf("the reason does not say why: %s", reason)
			}
		})
	}
}

func TestReportWithoutTheModelSaysWhy(t *testing.T) {
	t.Parallel()
	rep := reporting.Report{Fallbacks: []string{"outline", "introduction"}}
	const want = "the model did not provide the outline and 1 more (model.test answered 503); check the model server, then retry the run"
	if state, reason := judge(reporting.Input{}, rep, "model.test answered 503"); state != topicqueue.RunPartial || reason != want {
		t.Errorf("%s (%s)", state, reason)
	}
}

// TestNoEvidence: the reason for a missing report lists the nearest documents.
func TestNoEvidence(t *testing.T) {
	t.Parallel()
	returned := []topicqueue.Returned{{Sources: []topicqueue.Source{
		{ID: "1", Title: "The dairy"}, {ID: "2", Document: "notes/sheep.md"}, {ID: "3", Title: "The  dairy", Document: "again.md"},
	}}, {Sources: []topicqueue.Source{{ID: "4", URL: "https://a.example/"}, {ID: "5", Title: "A fourth"}}}}
	for _, tt := range []struct {
		name     string
		block    topicqueue.Block
		returned []topicqueue.Returned
		want     string
	}{
		{"nothing", topicqueue.Block{}, nil, "no evidence was found: no search result is about the topic"},
		{"a reason that says no more", topicqueue.Block{Reason: recurring.NothingFound}, nil, "no evidence was " +
			"found: no search result is about the topic"},
		{"a reason", topicqueue.Block{Reason: "its time was used up"}, nil,
			"no evidence was found: no search result is about the topic; block_1: its time was used up"},
		{"calls that failed", topicqueue.Block{Reason: recurring.NothingFound + "; open_page for \"https://a.example/\" failed: 503"}, nil,
			"no evidence was found: no search result is about the topic; block_1: open_page for " +
				"\"https://a.example/\" failed: 503"},
		{"without the model", topicqueue.Block{Fallbacks: []string{"decide: model.test answered 503"}}, nil,
			"no evidence was found: no search result is about the topic; without the model: decide: model.test " +
				"answered 503"},
		{"the nearest", topicqueue.Block{}, returned, "no evidence was found: no search result is about the " +
			"topic; the nearest documents: The dairy, notes/sheep.md, https://a.example/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.block.ID = "block_1"
			if got := noEvidence(reporting.Input{Blocks: []reporting.BlockEvidence{{Block: tt.block}}, Returned: tt.returned}); got != tt.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestNoEvidenceForWantOfMoney: a run without evidence that could not pay for its model states that reason, because
// rephrasing the topic would not help.
func TestNoEvidenceForWantOfMoney(t *testing.T) {
	t.Parallel()
	in := reporting.Input{Blocks: []reporting.BlockEvidence{{Block: topicqueue.Block{ID: "block_1", Reason: "nothing was found"}}}}
	if got := noEvidence(in); strings.Contains(got, "budget") {
		t.Errorf("without a budget: %s", got)
	}
	in.Blocks[0].Block.Fallbacks = []string{"decide: block_1/1: " + llm.ErrBudget.Error()}
	in.Run.Options.NightBudget = topicqueue.Budget{USD: 1}
	if got := noEvidence(in); !strings.HasPrefix(got, "the budget of the night had nothing for the model, and without it no evidence was found: ") || !strings.HasSuffix(got, "; block_1: nothing was found") {
		t.Errorf("got %s", got)
	}
}
