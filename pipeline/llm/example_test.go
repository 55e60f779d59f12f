package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/prompts"
)

func ExampleAsk() {
	stub := &llmtest.Stub{Answer: func(llmtest.Question) (string, bool) {
		return "Sure!\n```json\n{'capital': 'Oslo', 'people': '709000'}\n```", true
	}}
	server := httptest.NewServer(stub)
	defer server.Close()
	client, err := llm.NewClient(llm.Settings{
		Roles:      map[llm.Role]llm.RoleSettings{llm.Researcher: {Model: "any", BaseURL: server.URL + "/v1"}},
		HTTPClient: server.Client(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	type country struct {
		Capital string `json:"capital"`
		People  int    `json:"people"`
	}
	answer, err := llm.Ask[country](context.Background(), client, llm.Request{
		Role: llm.Researcher,
		Prompt: prompts.Prompt{Name: "country", User: "Norway", Schema: json.RawMessage(
			`{"type":"object","properties":{"capital":{"type":"string"},"people":{"type":"integer"}},"required":["capital","people"],"additionalProperties":false}`)},
	})
	fmt.Println(answer, err)
	// Output: {Oslo 709000} <nil>
}
