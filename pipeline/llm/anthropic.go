package llm

import (
	"cmp"
	"net/http"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"

	"nightdesk/pipeline/llm/wire"
)

// anthropicMaxTokens is the limit where none is set: the protocol insists on one, and every model takes this.
const anthropicMaxTokens = 4096

var anthropicMessages = protocol{
	baseURL:    "https://api.anthropic.com/v1",
	usual:      "ends in /v1",
	slips:      []string{"/messages"},
	transports: []Transport{TransportTool, TransportPrompt},
	connect:    connectAnthropic,
	ask:        askAnthropic,
	read:       wire.ReadAnthropic,
	stream:     func() wire.Stream { return &wire.AnthropicStream{} },
	streamed:   map[string]any{"stream": true},
	show:       showAnthropic,
	models:     shown,
}

func connectAnthropic(s RoleSettings, client *http.Client) (llms.Model, error) {
	return anthropic.New(anthropic.WithToken(cmp.Or(s.APIKey, "none")), anthropic.WithModel(s.Model),
		anthropic.WithBaseURL(s.BaseURL),
		anthropic.WithHTTPClient(client))
}

// askAnthropic sends what langchaingo leaves out: the choice of the tool, without which the model may answer in prose,
// and the mark up to which the prompt is cached. The system part is the same for all questions of a kind; what is too
// short to be cached is not, and costs no more for the mark.
func askAnthropic(s RoleSettings, q question, ex *wire.Exchange) []llms.CallOption {
	ex.NoAuth = s.APIKey == ""
	options := []llms.CallOption{llms.WithTemperature(min(s.Temperature, 1))} // more is refused
	if q.prompt.System != "" {
		ex.Set["system"] = []any{map[string]any{
			"type": "text", "text": q.prompt.System, "cache_control": map[string]string{"type": "ephemeral"},
		}}
	}
	if len(q.tools) > 0 { // it refuses turns with calls of tools that it is not told of
		options = append(options, bound(q.tools))
		if q.noCalls {
			ex.Set["tool_choice"] = map[string]any{"type": "none"}
		}
	}
	if len(q.turns) > 0 { // langchaingo sends one call of a turn, and a result without the others
		ex.Set["messages"] = anthropicTurns(q)
	}
	if q.form.transport == TransportTool {
		options = append(options, answerTool(q.prompt))
		ex.Set["tool_choice"] = map[string]any{"type": "tool", "name": toolName(q.prompt), "disable_parallel_tool_use": true}
	}
	return options
}
