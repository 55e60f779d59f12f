package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errBody marks an answer with status 200 that is no chat completion.
var errBody = errors.New("not a chat completion")

// wireAnswer is the part of a chat completion that we use, read more tolerantly than langchaingo does: content may be
// null or a list of parts, arguments a string or an object, usage missing or odd, null stands for anything.
type wireAnswer struct {
	text         string
	calls        []wireCall
	finishReason string
	prompt       int // tokens; 0 = not told
	completion   int
	failure      json.RawMessage // an error object sent with status 200
}

type wireCall struct{ name, arguments string }

func parseAnswer(body []byte) (wireAnswer, error) {
	var a wireAnswer
	body = bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\uFEFF"))
	if len(body) == 0 {
		return a, fmt.Errorf("%w: the body is empty", errBody)
	}
	if body[0] == '<' {
		return a, fmt.Errorf("%w: it is a web page; is the base URL right? It usually ends in /v1", errBody)
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
		return a, fmt.Errorf("%w: %w", errBody, err)
	}
	a.prompt, a.completion = usageOf(raw.Usage)
	if len(raw.Choices) == 0 {
		if len(raw.Error) > 0 && string(raw.Error) != "null" {
			a.failure = raw.Error
			return a, nil
		}
		return a, fmt.Errorf("%w: it has no choices", errBody)
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

// contentText joins the text of a message whose content is a string, null, or a list of parts.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

func usageOf(raw json.RawMessage) (prompt, completion int) {
	var u struct {
		Prompt     float64 `json:"prompt_tokens"`
		Completion float64 `json:"completion_tokens"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return 0, 0
	}
	const most = 1 << 30 // also keeps nonsense out of sums
	return int(min(max(u.Prompt, 0), most)), int(min(max(u.Completion, 0), most))
}

// clean encodes the answer in the one form that langchaingo reads without error or panic.
func (a wireAnswer) clean() []byte {
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
	body, err := json.Marshal(map[string]any{
		"choices": []any{map[string]any{
			"message":       map[string]any{"role": "assistant", "content": a.text, "tool_calls": calls},
			"finish_reason": reason,
		}},
		"usage": map[string]int{"prompt_tokens": a.prompt, "completion_tokens": a.completion, "total_tokens": a.prompt + a.completion},
	})
	if err != nil { // strings and numbers only
		panic("encode a chat completion: " + err.Error())
	}
	return body
}
