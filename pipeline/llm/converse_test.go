package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

var searchTool = llm.Tool{Name: "search", Description: "Searches.",
	Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)}

func talk(t *testing.T, provider llm.Provider, stub *llmtest.Stub) *llm.Client {
	t.Helper()
	client, err := llm.NewClient(llm.Settings{Roles: map[llm.Role]llm.RoleSettings{
		llm.Writer: {Provider: provider, Model: "m", BaseURL: llmtest.NewServer(t, stub), APIKey: "a-key-of-some-length",
			MaxTokens: 500, MaxTries: 1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// A conversation reaches the server unchanged: the model's text, its calls, their results, and what follows. The calls
// of an answer are returned.
func TestConversation(t *testing.T) {
	t.Parallel()
	for _, provider := range []llm.Provider{llm.ProviderOpenAI, llm.ProviderAnthropic} {
		t.Run(string(provider), func(t *testing.T) {
			t.Parallel()
			var asked []llmtest.Question
			stub := &llmtest.Stub{Converse: func(q llmtest.Question) (string, []llmtest.Call, bool) {
				asked = append(asked, q)
				if len(q.Tools) == 0 {
					return "The answer.", nil, true
				}
				return "Let me look.", []llmtest.Call{{ID: "a", Name: "search", Arguments: `{"query":"x"}`},
					{ID: "b", Name: "search", Arguments: `{"query":"y"}`}}, true
			}}
			client := talk(t, provider, stub)
			if !llm.CallsTools(llm.Run{Model: client}, llm.Writer) {
				t.Fatal("tools are not wanted")
			}
			req := llm.Request{Role: llm.Writer, Tools: []llm.Tool{searchTool},
				Prompt: prompts.Prompt{Name: "answer", System: "You answer.", User: "Why?"}}
			resp, err := client.Generate(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			calls := []llm.ToolCall{{ID: "a", Name: "search", Arguments: `{"query":"x"}`},
				{ID: "b", Name: "search", Arguments: `{"query":"y"}`}}
			if diff := cmp.Diff(calls, resp.Calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			req.Turns = []llm.Turn{{Said: resp.Text, Calls: resp.Calls, Results: []string{"found x", "found y"},
				Then: "Answer now."}}
			req.NoCalls = true
			if resp, err = client.Generate(t.Context(), req); err != nil || resp.Text != "The answer." || len(resp.Calls) > 0 {
				t.Fatalf("answered %+v, %v", resp, err)
			}
			want := []llmtest.Message{{Role: "user", Text: "Why?"},
				{Role: "assistant", Text: "Let me look.", Calls: []llmtest.Call{{ID: "a", Name: "search",
					Arguments: `{"query":"x"}`},
					{ID: "b", Name: "search", Arguments: `{"query":"y"}`}}},
				{Role: "tool", Text: "found x", CallID: "a"}, {Role: "tool", Text: "found y", CallID: "b"},
				{Role: "user", Text: "Answer now."}}
			if diff := cmp.Diff(want, asked[len(asked)-1].Messages); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if len(asked[0].Tools) != 1 || asked[0].System != "You answer." {
				t.Errorf("the first question was %+v", asked[0])
			}
		})
	}
}

// A server that does not support tools gets them once.
func TestServerWithoutTools(t *testing.T) {
	t.Parallel()
	stub := &llmtest.Stub{Refuse: []string{"tools"}}
	client := talk(t, llm.ProviderOpenAI, stub)
	_, err := client.Generate(t.Context(), llm.Request{Role: llm.Writer, Prompt: prompts.Prompt{User: "Why?"},
		Tools: []llm.Tool{searchTool}})
	if !errors.Is(err, llm.ErrNoTools) || !errors.Is(err, llm.ErrPermanent) {
		t.Errorf("refused with %v", err)
	}
	if llm.CallsTools(client, llm.Writer) {
		t.Error("it would be asked again")
	}
}

// Only different questions of a conversation have different places in the journal.
func TestJournalOfConversation(t *testing.T) {
	t.Parallel()
	places := map[string]bool{}
	journal := func(ctx context.Context, place string, _ topicqueue.Usage,
		do func(context.Context, int) (llm.Made, error)) ([]byte, error) {
		places[place] = true
		made, err := do(ctx, 0)
		return made.Answer, err
	}
	stub := &llmtest.Stub{Converse: func(llmtest.Question) (string, []llmtest.Call, bool) {
		return "", []llmtest.Call{{ID: "a", Name: "search", Arguments: "{}"}}, true
	}}
	model := llm.Run{Model: talk(t, llm.ProviderOpenAI, stub), Journal: journal}
	req := llm.Request{Role: llm.Writer, Prompt: prompts.Prompt{User: "Why?"}, Tools: []llm.Tool{searchTool}}
	other := req
	other.Turns = []llm.Turn{{Said: "Hm.", Then: "Go on."}}
	for _, r := range []llm.Request{req, other, req} {
		resp, err := model.Generate(t.Context(), r)
		if err != nil || len(resp.Calls) != 1 {
			t.Fatalf("answered %+v, %v", resp, err)
		}
	}
	if len(places) != 2 {
		t.Errorf("places %v", places)
	}
}
