package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// readOllama decodes a request to /api/chat.
func readOllama(body []byte) (Question, error) {
	var q Question
	var raw struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
		Format  json.RawMessage `json:"format"`
		Options struct {
			Temperature *float64 `json:"temperature"`
			Limit       int      `json:"num_predict"`
			Window      int      `json:"num_ctx"`
		} `json:"options"`
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return q, fmt.Errorf("the request is not a question: %w", err)
	}
	if err := json.Unmarshal(body, &q.Fields); err != nil {
		return q, err
	}
	for _, m := range raw.Messages {
		if m.Role == "system" {
			q.System += m.Content
		} else {
			q.User += m.Content
		}
	}
	q.Model, q.Temperature, q.MaxTokens, q.Window = raw.Model, raw.Options.Temperature, raw.Options.Limit,
		raw.Options.Window
	if bytes.HasPrefix(raw.Format, []byte("{")) {
		q.Transport, q.Schema = "json_schema", raw.Format
	} else {
		q.findSchema()
	}
	if len(raw.Messages) == 0 {
		return q, errors.New("the request has no messages")
	}
	return q, nil
}

// replyOllama writes an answer in parts of a few bytes, one JSON object per line. The last one has done set.
func replyOllama(q Question, a reply) []byte {
	var out bytes.Buffer
	part := func(content string, members map[string]any) {
		members["model"], members["created_at"] = q.Model, "2026-01-02T03:04:05.678Z"
		members["message"] = map[string]string{"role": "assistant", "content": content}
		out.Write(append(mustEncode(members), '\n'))
	}
	runes := []rune(a.text)
	for len(runes) > 0 {
		n := min(len(runes), 12)
		part(string(runes[:n]), map[string]any{"done": false})
		runes = runes[n:]
	}
	last := map[string]any{"done": true, "done_reason": a.reasonOr("stop"), "total_duration": 5}
	if a.prompt > 0 {
		last["prompt_eval_count"], last["eval_count"] = a.prompt, a.completion
	}
	part("", last)
	return out.Bytes()
}

func refuseOllama(_ int, _, message string) any { return map[string]string{"error": message} }
