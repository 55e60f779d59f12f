package llm_test

import (
	"context"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// heard is a model that records its questions.
type heard []llm.Request

func (h *heard) Generate(_ context.Context, req llm.Request) (llm.Response, error) {
	*h = append(*h, req)
	return llm.Response{Text: `{"topic":"tides"}`}, nil
}

// TestAbout: the background of a run precedes the data of a question, and is part of the question for the journal.
func TestAbout(t *testing.T) {
	t.Parallel()
	var model heard
	places := map[string]bool{}
	journal := func(ctx context.Context, place string, _ topicqueue.Usage,
		ask func(context.Context, int) (llm.Made, error)) ([]byte, error) {
		places[place] = true
		made, err := ask(ctx, 0)
		return made.Answer, err
	}
	for _, user := range []string{"a pilot", "a sailor", "a pilot"} {
		m := llm.Run{Model: &model, Journal: journal, Background: func() llm.Background {
			return llm.Background{Language: "en", Date: "2026-03-01", UserInfo: user}
		}}
		req := llm.Request{Prompt: prompts.Rephrase("en", prompts.RephraseData{Topic: "tides"}), Role: llm.Planner}
		if _, err := llm.Ask[prompts.RephraseAnswer](t.Context(), m, req); err != nil {
			t.Fatal(err)
		}
		last := model[len(model)-1].Prompt
		if !strings.HasPrefix(last.User, "Today: 2026-03-01\n") || !strings.Contains(last.User, user) ||
			!strings.HasSuffix(last.User, req.Prompt.User) || last.System != req.Prompt.System {
			t.Errorf("asked was:\n%s", last.User)
		}
	}
	if len(places) != 2 {
		t.Errorf("two backgrounds have the places %v", places)
	}
}
