package llm

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"

	"nightdesk/pipeline/llm/wire"
)

// anthropicMaxTokens is the default limit: the protocol requires one, and every model accepts this value.
const anthropicMaxTokens = 4096

var anthropicMessages = protocol{
	baseURL:    "https://api.anthropic.com/v1",
	usual:      "ends in /v1",
	slips:      []string{"/messages"},
	transports: []Transport{TransportTool, TransportPrompt},
	connect:    connectAnthropic,
	ask:        askAnthropic,
	add:        wire.AddAnthropic,
	streamed:   map[string]any{"stream": true},
	show:       func(model string) (string, any) { return "/models/" + url.PathEscape(model), nil },
	models:     shown,
}

func connectAnthropic(s RoleSettings, client *http.Client) (llms.Model, error) {
	return anthropic.New(anthropic.WithToken(cmp.Or(s.APIKey, "none")), anthropic.WithModel(s.Model),
		anthropic.WithBaseURL(s.BaseURL),
		anthropic.WithHTTPClient(client))
}

// askAnthropic adds the fields that langchaingo omits: the tool choice, without which the model may answer in prose,
// and the mark up to which the prompt is cached. The system part is the same for all questions of a kind. A part too
// short for caching costs no more with the mark.
func askAnthropic(s RoleSettings, q question, ex *wire.Exchange) []llms.CallOption {
	ex.NoAuth = s.APIKey == ""
	options := []llms.CallOption{llms.WithTemperature(min(s.Temperature, 1))} // larger values are refused
	if q.prompt.System != "" {
		ex.Set["system"] = []any{map[string]any{
			"type": "text", "text": q.prompt.System, "cache_control": map[string]string{"type": "ephemeral"},
		}}
	}
	if q.form.transport == TransportTool {
		options = append(options, answerTool(q.prompt))
		ex.Set["tool_choice"] = map[string]any{"type": "tool", "name": toolName(q.prompt), "disable_parallel_tool_use": true}
	}
	return options
}
