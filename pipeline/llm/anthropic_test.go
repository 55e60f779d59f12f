package llm_test

import (
	"encoding/json"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
)

func claude(s *llm.RoleSettings) { s.Provider = llm.ProviderAnthropic }

func TestAnthropicForcesTheToolAndMarksTheSystemPart(t *testing.T) {
	t.Parallel()
	var seen llmtest.Question
	stub := &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) { seen = q; return goodCard, true }}
	if _, err := llm.Ask[card](t.Context(), setup(t, stub, claude), structured()); err != nil {
		t.Fatal(err)
	}
	if got := string(seen.Fields["tool_choice"]); got != `{"disable_parallel_tool_use":true,"name":"card","type":"tool"}` {
		t.Errorf("tool_choice %s", got)
	}
	var system []map[string]json.RawMessage
	if err := json.Unmarshal(seen.Fields["system"], &system); err != nil || len(system) != 1 || string(system[0]["cache_control"]) != `{"type":"ephemeral"}` {
		t.Errorf("system %s, %v", seen.Fields["system"], err)
	}
	req := free()
	req.Prompt.System = ""
	if _, err := setup(t, stub, claude).Generate(t.Context(), req); err != nil || seen.Fields["system"] != nil || seen.Fields["tool_choice"] != nil {
		t.Errorf("%v, system %s, tool_choice %s", err, seen.Fields["system"], seen.Fields["tool_choice"])
	}
}

func TestAnthropicAlwaysHasALimit(t *testing.T) {
	t.Parallel()
	var seen llmtest.Question
	stub := &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) { seen = q; return "x", true }}
	c := setup(t, stub, func(s *llm.RoleSettings) { claude(s); s.MaxTokens, s.Temperature = 0, 1.5 })
	if _, err := c.Generate(t.Context(), free()); err != nil || seen.MaxTokens != 4096 || *seen.Temperature != 1 {
		t.Errorf("%v, limit %d, temperature %v", err, seen.MaxTokens, seen.Temperature)
	}
}

// Newer models refuse any temperature, and smaller ones a limit above their own. Both are learned once.
func TestAnthropicFormsAreFoundOutOnce(t *testing.T) {
	t.Parallel()
	small := refuseOver(512, "max_tokens: %d > 512, which is the maximum allowed number of output tokens for test-model")
	for name, tc := range map[string]struct {
		stub         *llmtest.Stub
		first, again int
	}{
		"temperature": {&llmtest.Stub{Refuse: []string{"temperature"}}, 2, 1},
		"limit":       {&llmtest.Stub{Intercept: small}, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := setup(t, tc.stub, claude)
			for _, want := range []int{tc.first, tc.first + tc.again} {
				if _, err := c.Generate(t.Context(), free()); err != nil || tc.stub.Stats().Calls != want {
					t.Errorf("%v, %d requests, want %d", err, tc.stub.Stats().Calls, want)
				}
			}
		})
	}
}

func TestAnthropicUsageCountsTheCacheOnce(t *testing.T) {
	t.Parallel()
	stub := body(`{"type":"message","role":"assistant","content":[{"type":"redacted_thinking","data":"x"},{"type":"text","text":"a"},{"type":"text","text":"b"}],
		"stop_reason":"end_turn","usage":{"input_tokens":10,"cache_creation_input_tokens":200,"cache_read_input_tokens":3000,"output_tokens":7}}`)
	resp, err := setup(t, stub, claude).Generate(t.Context(), free())
	if err != nil || resp.Text != "ab" || resp.Usage.PromptTokens != 3210 || resp.Usage.CachedTokens != 3000 || resp.Usage.CacheWriteTokens != 200 || resp.Usage.CompletionTokens != 7 || resp.Usage.Estimated {
		t.Errorf("%+v, %v", resp, err)
	}
}
