package llm_test

import (
	"errors"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
)

func local(s *llm.RoleSettings) { s.Provider = llm.ProviderOllama }

func TestOllamaStreams(t *testing.T) {
	t.Parallel()
	const one, two = `{"message":{"content":"It "},"done":false}` + "\n", `{"message":{"content":"rains."},"done":false}` + "\n"
	for _, tc := range []struct {
		name, body, text string
		says             string // of the error; empty: none
	}{
		{"whole", one + two + `{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":3}`, "It rains.", ""},
		{"in one part", `{"message":{"role":"assistant","content":"It rains."},"done":true}`, "It rains.", ""},
		{"thoughts apart", `{"message":{"content":"","thinking":"hm"},"done":false}` + one + two + `{"done":true}`, "It rains.", ""},
		{"without its end", one + two, "", "ends before its last part"},
		{"broken off in a part", one + `{"message":{"conte`, "", "ends before its last part"},
		{"error in the middle", one + `{"error":"llama runner process has terminated: out of memory"}`, "", "out of memory"},
		{"no stream at all", one + "Bad Gateway", "", "broken JSON"},
		{"odd counts", one + two + `{"done":true,"done_reason":7,"prompt_eval_count":"many","eval_count":null}`, "It rains.", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			resp, err := setup(t, body(tc.body), func(s *llm.RoleSettings) { local(s); s.MaxTries = 2 }).Generate(t.Context(), free())
			if tc.says == "" && (err != nil || resp.Text != tc.text || resp.Usage.PromptTokens == 0) {
				t.Errorf("%+v, %v", resp, err)
			}
			if tc.says != "" && (!errors.Is(err, llm.ErrUnavailable) || !strings.Contains(err.Error(), tc.says) || resp.Text != "") {
				t.Errorf("%+v, %v", resp, err)
			}
		})
	}
}

// Ollama omits the token count of a cached prompt.
func TestOllamaPromptFromTheCacheIsEstimated(t *testing.T) {
	t.Parallel()
	resp, err := setup(t, body(`{"message":{"content":"x"},"done":true,"eval_count":3}`), local).Generate(t.Context(), free())
	if u := resp.Usage; err != nil || !u.Estimated || u.PromptTokens == 0 || u.CompletionTokens != 3 {
		t.Errorf("%+v, %v", u, err)
	}
}

func TestOllamaIsAskedWithTheSchema(t *testing.T) {
	t.Parallel()
	var seen llmtest.Question
	stub := &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) { seen = q; return goodCard, true }}
	if _, err := setup(t, stub, local).Generate(t.Context(), free()); err != nil || string(seen.Fields["think"]) != "false" {
		t.Errorf("a model that is not to think: %v, think %s", err, seen.Fields["think"])
	}
	c := setup(t, stub, func(s *llm.RoleSettings) { local(s); s.Reasoning = true })
	if _, err := llm.Ask[card](t.Context(), c, structured()); err != nil || string(seen.Fields["format"]) != string(cardSchema) || string(seen.Fields["truncate"]) != "false" || seen.Fields["think"] != nil {
		t.Errorf("%v, format %s", err, seen.Fields["format"])
	}
	if _, err := c.Generate(t.Context(), free()); err != nil || seen.Fields["format"] != nil {
		t.Errorf("free text: %v, format %s", err, seen.Fields["format"])
	}
}

func TestOllamaHasNoSuchModel(t *testing.T) {
	t.Parallel()
	stub := refusing(llm.ProviderOllama, 404, `model "test-model" not found, try pulling it first`)
	_, err := llm.Ask[card](t.Context(), setup(t, stub, local), structured())
	if !errors.Is(err, llm.ErrPermanent) || !strings.Contains(err.Error(), "ollama pull") || stub.Stats().Calls != 1 {
		t.Errorf("%v after %d calls", err, stub.Stats().Calls)
	}
}
