package planning_test

import (
	"fmt"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// TestClarify: the step either asks or continues. It searches the knowledge base first and makes one model call.
func TestClarify(t *testing.T) {
	t.Parallel()
	exchange := func(outcome, answer string) topicqueue.Exchange {
		return topicqueue.Exchange{Question: topicqueue.Question{Kind: topicqueue.AskClarification, Text: "Which tides?"},
			Reply: topicqueue.Reply{Outcome: outcome, Text: answer}}
	}
	answered := exchange(topicqueue.ReplyAnswered, "Those of the sea.")
	ask := prompts.ClarifyAnswer{Reason: "Open.", Ask: true, Question: "Which tides:\x1b[31m those of the sea?"}
	tests := []struct {
		name     string
		dialogue []topicqueue.Exchange
		answer   any
		question string
		calls    int
		events   string
	}{
		{"clear", nil, prompts.ClarifyAnswer{Reason: "Clear."}, "", 1, "start_follow_up end_follow_up_neg"},
		{"clear, with a question all the same", nil, prompts.ClarifyAnswer{Question: "Which?"}, "", 1,
			"start_follow_up end_follow_up_neg"},
		{"unclear", nil, ask, "Which tides:[31m those of the sea?", 1, "start_follow_up"},
		{"fenced", nil, "```json\n{\"reason\":\"\",\"ask\":true,\"question\":\"Which?\"}\n```", "Which?", 1,
			"start_follow_up"},
		{"no question", nil, prompts.ClarifyAnswer{Ask: true, Question: " \n"}, "", 1,
			"start_follow_up fail_clarification"},
		{"no JSON", nil, "I would ask: which tides?", "", 1, "start_follow_up fail_clarification"},
		{"server away", nil, fmt.Errorf("503: %w", llm.ErrUnavailable), "", 1, "start_follow_up fail_clarification"},
		{"answered", []topicqueue.Exchange{answered}, prompts.ClarifyAnswer{}, "", 1, "start_follow_up end_follow_up_pos"},
		{"answered, still unclear", []topicqueue.Exchange{answered}, ask, "Which tides:[31m those of the sea?", 1,
			"start_follow_up"},
		{"enough", []topicqueue.Exchange{answered, answered, answered}, ask, "", 0, "start_follow_up end_follow_up_pos"},
		{"declined", []topicqueue.Exchange{exchange(topicqueue.ReplyDeclined, "")}, ask, "", 0,
			"start_follow_up end_follow_up_neg"},
		{"missed", []topicqueue.Exchange{answered, exchange(topicqueue.ReplyMissed, "")}, ask, "", 0,
			"start_follow_up end_follow_up_neg"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.run.Options.HumanInTheLoop, d.run.Dialogue = true, tt.dialogue
			d.answers["clarify"] = func(llm.Request) any { return tt.answer }
			d.p.Runner = &tools.Runner{Tools: tools.Set{searchTool{d}}, Pages: noPages{}}
			q, err := d.p.Clarify(t.Context(), d.run)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if q != nil {
				got = q.Text
			}
			if got != tt.question || len(d.questions("clarify")) != tt.calls || d.steps() != tt.events {
				t.Errorf("question %q, %d calls, events %q", got, len(d.questions("clarify")), d.steps())
			}
			if tt.calls > 0 {
				user := d.questions("clarify")[0].Prompt.User
				if len(d.queries) != 1 || !strings.Contains(user, "rise and fall") {
					t.Errorf("searched %q, shown\n%s", d.queries, user)
				}
				if len(tt.dialogue) > 0 && !strings.Contains(user, "Those of the sea.") {
					t.Errorf("the answer is not shown:\n%s", user)
				}
			}
		})
	}
}

// TestClarifyAsksNobody: nothing is asked without a model or without a user.
func TestClarifyAsksNobody(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if q, err := d.p.Clarify(t.Context(), d.run); q != nil || err != nil || len(d.events) > 0 {
		t.Errorf("%v, %v, %s", q, err, d.steps())
	}
	d.run.Options.HumanInTheLoop, d.p.Model = true, nil
	if q, err := d.p.Clarify(t.Context(), d.run); q != nil || err != nil || len(d.events)+len(d.queries) > 0 {
		t.Errorf("%v, %v, %s", q, err, d.steps())
	}
}

// TestPlanKnowsTheDialogue: the user's answers are part of the planned topic, and of the brief that replaces it.
func TestPlanKnowsTheDialogue(t *testing.T) {
	t.Parallel()
	for _, rephrase := range []bool{false, true} {
		d := newDesk(t)
		d.run.Options.Rephrase = rephrase
		d.run.Dialogue = []topicqueue.Exchange{{Question: topicqueue.Question{Kind: topicqueue.AskClarification,
			Text: "Which?"},
			Reply: topicqueue.Reply{Outcome: topicqueue.ReplyAnswered, Text: "Those of the sea."}}}
		plan, err := d.plan()
		if err != nil {
			t.Fatal(err)
		}
		const said = "The user was asked: Which?\nThe user answered: Those of the sea."
		if !strings.HasSuffix(plan.Topic, "\n\n"+said) || strings.HasPrefix(plan.Topic, "tide tide") != rephrase {
			t.Errorf("topic %q", plan.Topic)
		}
		for _, req := range d.asked {
			if !strings.Contains(req.Prompt.User, said) {
				t.Errorf("the answer is not in %s", req.Position.Step)
			}
		}
	}
}
