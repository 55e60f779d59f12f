package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// readAnthropic decodes a request to the messages API. Like that API, it requires a limit and refuses an empty text.
func readAnthropic(body []byte) (Question, error) {
	var q Question
	var raw struct {
		Model    string          `json:"model"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Temperature *float64 `json:"temperature"`
		MaxTokens   int      `json:"max_tokens"`
		Tools       []struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		Choice struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"tool_choice"`
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return q, fmt.Errorf("the request is not a question: %w", err)
	}
	if err := json.Unmarshal(body, &q.Fields); err != nil {
		return q, err
	}
	q.Model, q.Temperature, q.MaxTokens, q.System = raw.Model, raw.Temperature, raw.MaxTokens, contentText(raw.System)
	for i, m := range raw.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			return q, fmt.Errorf("messages: unexpected role %q", m.Role)
		}
		if m.Role == "user" {
			q.User += contentText(m.Content)
		}
		q.Messages = append(q.Messages, Message{m.Role, contentText(m.Content)})
	}
	switch {
	case q.MaxTokens <= 0:
		return q, errors.New("max_tokens: Field required")
	case raw.Temperature != nil && (*raw.Temperature < 0 || *raw.Temperature > 1):
		return q, errors.New("temperature: range: 0..1")
	case q.User == "" || raw.System != nil && q.System == "":
		return q, errors.New("text content blocks must be non-empty")
	case len(raw.Tools) > 0 && raw.Choice.Type == "tool" && raw.Choice.Name == raw.Tools[0].Name:
		q.Transport, q.Name, q.Schema = "tool", raw.Tools[0].Name, raw.Tools[0].Schema
	default:
		q.findSchema()
	}
	return q, nil
}

// replyAnthropic writes an answer in several blocks, like models of that API. Text that is not JSON cannot be a
// tool's input and becomes text. A third of the question counts as read from the cache.
func replyAnthropic(q Question, a reply) []byte {
	content := []any{map[string]any{"type": "thinking", "thinking": "hm", "signature": "s"}}
	reason := "end_turn"
	if input := json.RawMessage(a.text); q.Transport == "tool" && json.Valid(input) {
		content = append(content, map[string]any{"type": "text", "text": "I will answer with the tool."},
			map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", q.Number), "name": q.Name, "input": input})
		reason = "tool_use"
	} else {
		content = append(content, map[string]any{"type": "text", "text": a.text[:len(a.text)/2]},
			map[string]any{"type": "text", "text": a.text[len(a.text)/2:]})
	}
	answer := map[string]any{
		"id": fmt.Sprintf("msg_%d", q.Number), "type": "message", "role": "assistant", "model": q.Model,
		"content": content, "stop_reason": a.reasonOr(reason), "stop_sequence": nil,
	}
	if a.prompt > 0 {
		cached := Cached(a.prompt)
		answer["usage"] = map[string]int{
			"input_tokens": a.prompt - cached, "cache_creation_input_tokens": 0, "cache_read_input_tokens": cached,
			"output_tokens": a.completion,
		}
	}
	return mustEncode(answer)
}

func refuseAnthropic(status int, _, message string) any {
	kind := map[int]string{
		http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error",
		http.StatusNotFound:              "not_found_error",
		http.StatusRequestEntityTooLarge: "request_too_large", http.StatusTooManyRequests: "rate_limit_error",
		529: "overloaded_error",
	}[status]
	switch {
	case kind == "" && status >= 500:
		kind = "api_error"
	case kind == "":
		kind = "invalid_request_error"
	}
	return map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message},
		"request_id": "req_1"}
}
