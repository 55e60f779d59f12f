package llm

import (
	"cmp"
	"net/http"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"nightdesk/pipeline/llm/wire"
)

var openAI = protocol{
	baseURL:    "https://api.openai.com/v1",
	usual:      "ends in /v1",
	slips:      []string{"/chat/completions"},
	transports: []Transport{TransportSchema, TransportTool, TransportPrompt},
	connect:    connectOpenAI,
	ask:        askOpenAI,
	add:        wire.AddOpenAI,
	streamed:   map[string]any{"stream": true, "stream_options": map[string]any{"include_usage": true}},
	show:       func(string) (string, any) { return "/models", nil },
	models:     listedOpenAI,
}

func connectOpenAI(s RoleSettings, client *http.Client) (llms.Model, error) {
	// All options are passed, because langchaingo takes missing ones from the environment and refuses an empty token.
	return openai.New(openai.WithToken(cmp.Or(s.APIKey, "none")), openai.WithModel(s.Model), openai.WithBaseURL(s.BaseURL),
		openai.WithOrganization(""), openai.WithHTTPClient(client))
}

func askOpenAI(s RoleSettings, q question, ex *wire.Exchange) []llms.CallOption {
	ex.NoAuth = s.APIKey == ""
	var options []llms.CallOption
	if q.form.limit > 0 && q.form.tokenField == TokenFieldLegacy {
		options = append(options, openai.WithLegacyMaxTokensField())
	}
	switch q.form.transport {
	case TransportSchema:
		ex.Set["response_format"] = map[string]any{
			"type":        "json_schema",
			"json_schema": map[string]any{"name": toolName(q.prompt), "strict": true, "schema": q.prompt.Schema},
		}
	case TransportTool:
		options = append(options, answerTool(q.prompt),
			llms.WithToolChoice(llms.ToolChoice{Type: "function", Function: &llms.FunctionReference{Name: toolName(q.prompt)}}))
	}
	return options
}
