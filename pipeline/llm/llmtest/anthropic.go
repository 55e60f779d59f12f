package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
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
		q.Messages = append(q.Messages, anthropicParts(m.Role, m.Content)...)
	}
	if err := answeredCalls(q.Messages); err != nil {
		return q, err
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
	case len(raw.Tools) > 0 && raw.Choice.Type != "none":
		for _, t := range raw.Tools {
			q.Tools = append(q.Tools, t.Name)
		}
	case len(raw.Tools) == 0 && slices.ContainsFunc(q.Messages, func(m Message) bool { return len(m.Calls) > 0 }):
		return q, errors.New("requests which have `tool_use` or `tool_result` blocks in messages must define tools")
	default:
		q.findSchema()
	}
	return q, nil
}

// anthropicParts decodes the blocks of a message; the results of calls come before the text.
func anthropicParts(role string, content json.RawMessage) []Message {
	var blocks []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		ID      string          `json:"id"`
		Name    string          `json:"name"`
		Input   json.RawMessage `json:"input"`
		CallID  string          `json:"tool_use_id"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return []Message{{Role: role, Text: contentText(content)}}
	}
	var out []Message
	said := Message{Role: role}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			said.Text += b.Text
		case "tool_use":
			said.Calls = append(said.Calls, Call{b.ID, b.Name, string(b.Input)})
		case "tool_result":
			out = append(out, Message{Role: "tool", Text: contentText(b.Content), CallID: b.CallID})
		}
	}
	if said.Text != "" || len(said.Calls) > 0 {
		out = append(out, said)
	}
	return out
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
	for _, c := range a.calls {
		content = append(content, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name,
			"input": json.RawMessage(c.Arguments)})
		reason = "tool_use"
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
