package llm

import (
	"cmp"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"nightdesk/pipeline/llm/wire"
	"nightdesk/prompts"
)

// question is one request, as passed to a protocol.
type question struct {
	prompt prompts.Prompt
	form   form
}

// request returns the arguments for langchaingo, and the exchange with what langchaingo cannot send or read.
func (r *role) request(req Request, f form) ([]llms.MessageContent, []llms.CallOption, *wire.Exchange) {
	p := req.Prompt
	if f.think {
		p = withThink(p)
	}
	switch {
	case f.transport == TransportPrompt:
		p = withSchemaText(p)
	case f.bounds():
		p = withBounds(p)
	}
	ex := &wire.Exchange{Set: map[string]any{}, Wanted: "a chat completion", Add: r.protocol.add}
	options := []llms.CallOption{llms.WithTemperature(r.settings.Temperature)}
	if f.limit > 0 {
		options = append(options, llms.WithMaxTokens(f.limit))
	}
	if f.noTemperature {
		ex.Unset = append(ex.Unset, "temperature")
	}
	options = append(options, r.protocol.ask(r.settings, question{p, f}, ex)...)
	var messages []llms.MessageContent
	if p.System != "" {
		messages = append(messages, llms.TextParts(llms.ChatMessageTypeSystem, p.System))
	}
	messages = append(messages, llms.TextParts(llms.ChatMessageTypeHuman, p.User))
	return messages, options, ex
}

// answerTool returns the tool whose arguments are the answer, for TransportTool.
func answerTool(p prompts.Prompt) llms.CallOption {
	return llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: toolName(p), Description: "Gives the answer to the question.", Parameters: p.Schema,
	}}})
}

// withSchemaText adds the schema to the prompt's text, for transports that do not send it separately.
func withSchemaText(p prompts.Prompt) prompts.Prompt {
	if schema := string(p.Schema); !strings.Contains(p.User, schema) { // a second question has it
		p.System = strings.TrimSpace(p.System + "\n\nThe JSON object fits this JSON Schema:\n" + schema)
	}
	return p
}

// toolName returns the prompt's name in the characters and length that servers accept.
func toolName(p prompts.Prompt) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, p.Name)
	return cmp.Or(name[:min(len(name), 64)], "answer")
}
