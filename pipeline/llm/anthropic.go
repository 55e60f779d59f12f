package llm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
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
	parse:      parseAnthropic,
	clean:      cleanAnthropic,
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
func askAnthropic(s RoleSettings, q question, ex *exchange) []llms.CallOption {
	ex.noAuth = s.APIKey == ""
	options := []llms.CallOption{llms.WithTemperature(min(s.Temperature, 1))} // more is refused
	if q.prompt.System != "" {
		ex.set["system"] = []any{map[string]any{
			"type": "text", "text": q.prompt.System, "cache_control": map[string]string{"type": "ephemeral"},
		}}
	}
	if q.form.transport == TransportTool {
		options = append(options, answerTool(q.prompt))
		ex.set["tool_choice"] = map[string]any{"type": "tool", "name": toolName(q.prompt), "disable_parallel_tool_use": true}
	}
	return options
}

// parseAnthropic reads a message. Its blocks are joined: text with text, each tool call for itself, thoughts left out.
func parseAnthropic(body []byte) (wireAnswer, error) {
	var a wireAnswer
	body, err := jsonObject(body)
	if err != nil {
		return a, err
	}
	var raw struct {
		Content    json.RawMessage `json:"content"`
		StopReason json.RawMessage `json:"stop_reason"`
		Usage      json.RawMessage `json:"usage"`
		Error      json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return a, unreadable(err)
	}
	var usage struct { // what was written to the cache or read from it is not in input_tokens
		Input   json.RawMessage `json:"input_tokens"`
		Written json.RawMessage `json:"cache_creation_input_tokens"`
		Read    json.RawMessage `json:"cache_read_input_tokens"`
		Output  json.RawMessage `json:"output_tokens"`
	}
	if json.Unmarshal(raw.Usage, &usage) == nil {
		a.cached, a.cacheWritten = count(usage.Read), count(usage.Written)
		a.prompt = count(usage.Input) + a.cached + a.cacheWritten
		a.completion = count(usage.Output)
	}
	if !isSet(raw.Content) {
		if isSet(raw.Error) {
			a.failure = raw.Error
			return a, nil
		}
		return a, without("content")
	}
	var blocks []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(raw.Content, &blocks); err != nil {
		return a, fmt.Errorf("%w: its content: %w", errBody, err)
	}
	var text strings.Builder
	for _, b := range blocks {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
		case "tool_use":
			a.calls = append(a.calls, wireCall{b.Name, wireFunction{Arguments: b.Input}.arguments()})
		}
	}
	a.text = text.String()
	_ = json.Unmarshal(raw.StopReason, &a.finishReason) // another type than a string says nothing
	return a, nil
}

// cleanAnthropic encodes the text only: tool calls were read already, and langchaingo would lose the order of their
// members. It refuses a message without blocks.
func cleanAnthropic(a wireAnswer) []byte {
	return encode(map[string]any{
		"type": "message", "role": "assistant", "stop_reason": a.finishReason,
		"content": []any{map[string]any{"type": "text", "text": a.text}},
		"usage":   map[string]int{"input_tokens": a.prompt, "output_tokens": a.completion},
	})
}
