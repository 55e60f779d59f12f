package llm

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

var openAI = protocol{
	baseURL:    "https://api.openai.com/v1",
	usual:      "ends in /v1",
	slips:      []string{"/chat/completions"},
	transports: []Transport{TransportSchema, TransportTool, TransportPrompt},
	connect:    connectOpenAI,
	ask:        askOpenAI,
	parse:      parseOpenAI,
	clean:      cleanOpenAI,
	show:       showOpenAI,
	models:     listedOpenAI,
}

func connectOpenAI(s RoleSettings, client *http.Client) (llms.Model, error) {
	// Everything is passed: langchaingo reads the environment for what is missing, and refuses an empty token.
	return openai.New(openai.WithToken(cmp.Or(s.APIKey, "none")), openai.WithModel(s.Model), openai.WithBaseURL(s.BaseURL),
		openai.WithOrganization(""), openai.WithHTTPClient(client))
}

func askOpenAI(s RoleSettings, q question, ex *exchange) []llms.CallOption {
	ex.noAuth = s.APIKey == ""
	var options []llms.CallOption
	if q.form.limit > 0 && q.form.tokenField == TokenFieldLegacy {
		options = append(options, openai.WithLegacyMaxTokensField())
	}
	switch q.form.transport {
	case TransportSchema:
		ex.set["response_format"] = map[string]any{
			"type":        "json_schema",
			"json_schema": map[string]any{"name": toolName(q.prompt), "strict": true, "schema": q.prompt.Schema},
		}
	case TransportTool:
		options = append(options, answerTool(q.prompt),
			llms.WithToolChoice(llms.ToolChoice{Type: "function", Function: &llms.FunctionReference{Name: toolName(q.prompt)}}))
	}
	return options
}

// parseOpenAI reads a chat completion.
func parseOpenAI(body []byte) (wireAnswer, error) {
	var a wireAnswer
	body, err := jsonObject(body)
	if err != nil {
		return a, err
	}
	var raw struct {
		Choices []struct {
			Message struct {
				Content      json.RawMessage `json:"content"`
				Refusal      json.RawMessage `json:"refusal"`
				FunctionCall *wireFunction   `json:"function_call"`
				ToolCalls    []struct {
					Function wireFunction `json:"function"`
				} `json:"tool_calls"`
			} `json:"message"`
			FinishReason json.RawMessage `json:"finish_reason"`
		} `json:"choices"`
		Usage json.RawMessage `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return a, unreadable(err)
	}
	a.prompt, a.completion, a.cached = usageOf(raw.Usage)
	if len(raw.Choices) == 0 {
		if isSet(raw.Error) {
			a.failure = raw.Error
			return a, nil
		}
		return a, without("choices")
	}
	message := raw.Choices[0].Message
	a.text = contentText(message.Content)
	for _, call := range message.ToolCalls {
		a.calls = append(a.calls, wireCall{call.Function.Name, call.Function.arguments()})
	}
	if message.FunctionCall != nil {
		a.calls = append(a.calls, wireCall{message.FunctionCall.Name, message.FunctionCall.arguments()})
	}
	_ = json.Unmarshal(raw.Choices[0].FinishReason, &a.finishReason) // another type than a string says nothing
	return a, nil
}

type wireFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// arguments returns them as JSON text; some servers send an object where the format has a string.
func (f wireFunction) arguments() string {
	var text string
	if json.Unmarshal(f.Arguments, &text) == nil {
		return text
	}
	return string(f.Arguments)
}

// usageOf reads a count of tokens. cached: of those of the question, by OpenAI and most others, or by DeepSeek.
func usageOf(raw json.RawMessage) (prompt, completion, cached int) {
	var u struct {
		Prompt     json.RawMessage `json:"prompt_tokens"`
		Completion json.RawMessage `json:"completion_tokens"`
		Details    json.RawMessage `json:"prompt_tokens_details"`
		Hit        json.RawMessage `json:"prompt_cache_hit_tokens"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return 0, 0, 0
	}
	var details struct {
		Cached json.RawMessage `json:"cached_tokens"`
	}
	_ = json.Unmarshal(u.Details, &details) // what is no object says nothing
	return count(u.Prompt), count(u.Completion), max(count(details.Cached), count(u.Hit))
}

// cleanOpenAI encodes the answer in the one form that langchaingo reads without error or panic.
func cleanOpenAI(a wireAnswer) []byte {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	calls := make([]call, len(a.calls))
	for i, c := range a.calls {
		calls[i] = call{"call_" + strconv.Itoa(i), "function", function{c.name, c.arguments}}
	}
	reason := a.finishReason
	if reason == "function_call" { // langchaingo dereferences a nil pointer on it
		reason = "tool_calls"
	}
	return encode(map[string]any{
		"choices": []any{map[string]any{
			"message":       map[string]any{"role": "assistant", "content": a.text, "tool_calls": calls},
			"finish_reason": reason,
		}},
		"usage": map[string]int{"prompt_tokens": a.prompt, "completion_tokens": a.completion,
			"total_tokens": a.prompt + a.completion},
	})
}
