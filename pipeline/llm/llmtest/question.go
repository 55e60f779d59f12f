package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Question is a request as decoded by the stub.
type Question struct {
	Number      int // number of the request, counted from 1
	Model       string
	System      string
	User        string
	Name        string                     // name of the schema or tool; empty for the transport prompt and for free text
	Schema      json.RawMessage            // nil: free text
	Transport   string                     // json_schema, tool, prompt; empty: free text
	Temperature *float64                   // nil: not sent
	MaxTokens   int                        // 0: not sent
	Window      int                        // context window in tokens, from Ollama's questions; 0: not sent
	Messages    []Message                  // without system messages
	Fields      map[string]json.RawMessage // the whole request
	Header      http.Header
}

// Message is one message of a question.
type Message struct{ Role, Text string }

// Call is a look-up that a model asks for.
type Call struct{ Name, Query string }

// looksUp reports whether a question asks for the next look-ups.
func (q Question) looksUp() bool {
	return strings.Contains(string(q.Schema), `"actions"`) && strings.Contains(string(q.Schema), `"answer"`)
}

// lookUp returns an answer to a question for look-ups.
func lookUp(answer string, calls []Call) string {
	actions := make([]map[string]string, len(calls))
	for i, c := range calls {
		actions[i] = map[string]string{"tool_type": c.Name, "query": c.Query, "rationale": "r"}
	}
	text, _ := json.Marshal(map[string]any{"think": "", "reasoning": answer, "actions": actions, "answer": answer})
	return string(text)
}

// readOpenAI decodes a chat completion request.
func readOpenAI(body []byte) (Question, error) {
	var q Question
	var raw struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Temperature    *float64 `json:"temperature"`
		MaxTokens      int      `json:"max_tokens"`
		MaxCompletion  int      `json:"max_completion_tokens"`
		ResponseFormat struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Name   string          `json:"name"`
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
		Tools []struct {
			Function struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return q, fmt.Errorf("the request is not a chat completion: %w", err)
	}
	if err := json.Unmarshal(body, &q.Fields); err != nil {
		return q, err
	}
	for _, m := range raw.Messages {
		switch m.Role {
		case "system", "developer":
			q.System += contentText(m.Content)
			continue
		case "user":
			q.User += contentText(m.Content)
		}
		q.Messages = append(q.Messages, Message{Role: m.Role, Text: contentText(m.Content)})
	}
	q.Model, q.Temperature, q.MaxTokens = raw.Model, raw.Temperature, max(raw.MaxTokens, raw.MaxCompletion)
	switch {
	case raw.ResponseFormat.Type == "json_schema":
		q.Transport, q.Name, q.Schema = "json_schema", raw.ResponseFormat.JSONSchema.Name,
			raw.ResponseFormat.JSONSchema.Schema
	case len(raw.Tools) > 0:
		q.Transport, q.Name, q.Schema = "tool", raw.Tools[0].Function.Name, raw.Tools[0].Function.Parameters
	default:
		q.findSchema()
	}
	if len(raw.Messages) == 0 {
		return q, fmt.Errorf("the request has no messages")
	}
	return q, nil
}

// findSchema looks for a schema in the prompt's text.
func (q *Question) findSchema() {
	if q.Schema = schemaIn(q.System); q.Schema == nil {
		q.Schema = schemaIn(q.User)
	}
	if q.Schema != nil {
		q.Transport = "prompt"
	}
}

// contentText returns a message's content: a string or a list of text parts.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // anything else has no text
	for _, p := range parts {
		text += p.Text
	}
	return text
}

// schemaIn returns the first JSON schema of an object in a text.
func schemaIn(text string) json.RawMessage {
	for at, tries := 0, 0; tries < 1000; tries++ {
		next := strings.IndexByte(text[at:], '{')
		if next < 0 {
			return nil
		}
		at += next
		var value json.RawMessage
		var n struct {
			Type       string     `json:"type"`
			Properties properties `json:"properties"`
		}
		if json.NewDecoder(strings.NewReader(text[at:])).Decode(&value) == nil {
			if json.Unmarshal(value, &n) == nil && n.Type == "object" && len(n.Properties) > 0 {
				return slices.Clone(value)
			}
		}
		at++
	}
	return nil
}
