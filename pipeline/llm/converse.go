package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"nightdesk/prompts"
)

// A conversation is a prompt and the turns after it. Every question carries the whole conversation, so that calls
// stay independent: each is journaled, governed and paid for like any other.

// Tool is a function that a model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // of its arguments
}

// ToolCall is one call requested by a model.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // as written by the model; usually JSON
}

// Turn is an answer of the model within a conversation, and the reply to it.
type Turn struct {
	Said    string
	Calls   []ToolCall
	Results []string // of Calls, in the same order
	Then    string   // next message of the user; empty: none
}

// ToolCaller is a Model that reports whether the model of a role supports tools.
type ToolCaller interface {
	CallsTools(role Role) bool
}

// CallsTools reports whether questions of a role may have Tools. The result is a guess until the server has been
// asked: see ErrNoTools.
func CallsTools(m Model, role Role) bool {
	c, ok := m.(ToolCaller)
	return ok && c.CallsTools(role)
}

// CallsTools implements ToolCaller.
func (c *Client) CallsTools(role Role) bool {
	r, ok := c.roles[role]
	if !ok || !slices.Contains(r.protocol.transports, TransportTool) {
		return false
	}
	return !r.learned.known().noTools
}

// whole returns a prompt that includes the whole conversation, for counting its tokens.
func (req Request) whole() prompts.Prompt {
	p := req.Prompt
	if len(req.Turns) == 0 && len(req.Tools) == 0 {
		return p
	}
	var b strings.Builder
	b.WriteString(p.User)
	for _, t := range req.Turns {
		b.WriteString(t.Said + t.Then + strings.Join(t.Results, ""))
		for _, c := range t.Calls {
			b.WriteString(c.Name + c.Arguments)
		}
	}
	for _, t := range req.Tools {
		b.WriteString(t.Name + t.Description + string(t.Schema))
	}
	p.User = b.String()
	return p
}

// aboutTools matches the error messages of servers that do not support tools.
var aboutTools = regexp.MustCompile(`\btools?\b|tool_choice|tool[ _-]call|function[ _-]call`)

// withoutTools marks the refusal of a question with tools and records it, so that tools are not tried again.
func (r *role) withoutTools(req Request, err error) error {
	var e *ProviderError
	if len(req.Tools) == 0 || errors.Is(err, ErrContextLength) || !errors.As(err, &e) || isAboutModel(e) {
		return err
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusNotImplemented:
	default:
		if e.Status < 500 {
			return err
		}
	}
	if !aboutTools.MatchString(strings.ToLower(e.Code + " " + e.Type + " " + e.Message)) {
		return err
	}
	r.learned.refuses(&r.learned.noTools)
	return fmt.Errorf("%w: %w: %w", err, ErrNoTools, ErrPermanent)
}

// bound returns tools as an option for langchaingo.
func bound(tools []Tool) llms.CallOption {
	list := make([]llms.Tool, len(tools))
	for i, t := range tools {
		list[i] = llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: t.Name, Description: t.Description,
			Parameters: t.Schema}}
	}
	return llms.WithTools(list)
}

// messagesOf returns turns as langchaingo messages.
func messagesOf(turns []Turn) []llms.MessageContent {
	var messages []llms.MessageContent
	for _, t := range turns {
		said := llms.MessageContent{Role: llms.ChatMessageTypeAI}
		if t.Said != "" {
			said.Parts = append(said.Parts, llms.TextContent{Text: t.Said})
		}
		for _, c := range t.Calls {
			said.Parts = append(said.Parts, llms.ToolCall{ID: c.ID, Type: "function",
				FunctionCall: &llms.FunctionCall{Name: sentName(c), Arguments: c.Arguments}})
		}
		if len(said.Parts) > 0 {
			messages = append(messages, said)
		}
		for i, c := range t.Calls {
			messages = append(messages, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
				llms.ToolCallResponse{ToolCallID: c.ID, Name: sentName(c), Content: t.Results[i]}}})
		}
		if t.Then != "" {
			messages = append(messages, llms.TextParts(llms.ChatMessageTypeHuman, t.Then))
		}
	}
	return messages
}

// sentName returns the name of a call in characters that servers accept, because a model may invent names.
func sentName(c ToolCall) string { return toolName(prompts.Prompt{Name: c.Name}) }

// anthropicTurns returns the messages of a conversation in Anthropic's protocol. There, user and model alternate, and
// the results of all calls of a turn are in one message.
func anthropicTurns(q question) []any {
	text := func(s string) map[string]any { return map[string]any{"type": "text", "text": s} }
	messages := []any{}
	user := []any{text(q.prompt.User)}
	for _, t := range q.turns {
		var said []any
		if strings.TrimSpace(t.Said) != "" {
			said = append(said, text(strings.TrimRight(t.Said, " \n\t")))
		}
		for _, c := range t.Calls {
			input := json.RawMessage(c.Arguments)
			if !json.Valid(input) || !strings.HasPrefix(strings.TrimSpace(c.Arguments), "{") {
				input = json.RawMessage("{}")
			}
			said = append(said, map[string]any{"type": "tool_use", "id": c.ID, "name": sentName(c), "input": input})
		}
		if len(said) > 0 {
			messages = append(messages, map[string]any{"role": "user", "content": user},
				map[string]any{"role": "assistant", "content": said})
			user = nil
		}
		for i, c := range t.Calls {
			user = append(user, map[string]any{"type": "tool_result", "tool_use_id": c.ID, "content": t.Results[i]})
		}
		if t.Then != "" {
			user = append(user, text(t.Then))
		}
	}
	if len(user) > 0 {
		messages = append(messages, map[string]any{"role": "user", "content": user})
	}
	return messages
}
