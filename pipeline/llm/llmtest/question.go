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
	Tools       []string                   // tools that the model may choose to call
	Messages    []Message                  // without system messages
	Fields      map[string]json.RawMessage // the whole request
	Header      http.Header
}

// Message is one part of a conversation.
type Message struct {
	Role   string // user, assistant or tool
	Text   string
	Calls  []Call // from an assistant
	CallID string // for a tool's result
}

// Call is a tool call.
type Call struct{ ID, Name, Arguments string }

// readOpenAI decodes a chat completion request.
func readOpenAI(body []byte) (Question, error) {
	var q Question
	var raw struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			CallID  string          `json:"tool_call_id"`
			Calls   []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Choice         json.RawMessage `json:"tool_choice"`
		Temperature    *float64        `json:"temperature"`
		MaxTokens      int             `json:"max_tokens"`
		MaxCompletion  int             `json:"max_completion_tokens"`
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
		message := Message{Role: m.Role, Text: contentText(m.Content), CallID: m.CallID}
		for _, c := range m.Calls {
			message.Calls = append(message.Calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
		}
		q.Messages = append(q.Messages, message)
	}
	if err := answeredCalls(q.Messages); err != nil {
		return q, err
	}
	q.Model, q.Temperature, q.MaxTokens = raw.Model, raw.Temperature, max(raw.MaxTokens, raw.MaxCompletion)
	switch {
	case raw.ResponseFormat.Type == "json_schema":
		q.Transport, q.Name, q.Schema = "json_schema", raw.ResponseFormat.JSONSchema.Name,
			raw.ResponseFormat.JSONSchema.Schema
	case len(raw.Tools) > 0 && len(raw.Choice) == 0:
		for _, t := range raw.Tools {
			q.Tools = append(q.Tools, t.Function.Name)
		}
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

// answeredCalls checks a conversation like servers do: each call has its result directly after it, and there are no
// other results.
func answeredCalls(messages []Message) error {
	var open []string
	for _, m := range messages {
		if m.Role != "tool" {
			if len(open) > 0 {
				return fmt.Errorf("tool_calls: no result for %s", strings.Join(open, ", "))
			}
			for _, c := range m.Calls {
				if c.ID == "" || slices.Contains(open, c.ID) {
					return fmt.Errorf("tool_calls: id %q", c.ID)
				}
				if !json.Valid([]byte(c.Arguments)) {
					return fmt.Errorf("tool_calls: the arguments of %s are no JSON", c.ID)
				}
				open = append(open, c.ID)
			}
			continue
		}
		i := slices.Index(open, m.CallID)
		if i < 0 {
			return fmt.Errorf("tool_call_id %q belongs to no call", m.CallID)
		}
		open = slices.Delete(open, i, i+1)
	}
	if len(open) > 0 {
		return fmt.Errorf("tool_calls: no result for %s", strings.Join(open, ", "))
	}
	return nil
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
