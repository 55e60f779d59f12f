package llm

import (
	"cmp"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"nightdesk/prompts"
)

// request builds langchaingo's arguments, and the exchange with what it cannot send.
func (r *role) request(req Request, f form) ([]llms.MessageContent, []llms.CallOption, *exchange) {
	ex := &exchange{noAuth: r.settings.APIKey == "", set: map[string]any{}}
	options := []llms.CallOption{llms.WithTemperature(r.settings.Temperature)}
	if f.noTemperature {
		ex.unset = append(ex.unset, "temperature")
	}
	if f.limit > 0 {
		options = append(options, llms.WithMaxTokens(f.limit))
		if f.tokenField == TokenFieldLegacy {
			options = append(options, openai.WithLegacyMaxTokensField())
		}
	}
	p := req.Prompt
	if f.think {
		p = withThink(p)
	}
	if f.bounds && f.transport != TransportPrompt {
		p = withBounds(p)
	}
	switch f.transport {
	case TransportSchema:
		ex.set["response_format"] = map[string]any{
			"type":        "json_schema",
			"json_schema": map[string]any{"name": toolName(p), "strict": true, "schema": p.Schema},
		}
	case TransportTool:
		options = append(options,
			llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
				Name: toolName(p), Description: "Gives the answer to the question.", Parameters: p.Schema,
			}}}),
			llms.WithToolChoice(llms.ToolChoice{Type: "function", Function: &llms.FunctionReference{Name: toolName(p)}}))
	case TransportPrompt:
		p = withSchemaText(p)
	}
	var messages []llms.MessageContent
	if p.System != "" {
		messages = append(messages, llms.TextParts(llms.ChatMessageTypeSystem, p.System))
	}
	return append(messages, llms.TextParts(llms.ChatMessageTypeHuman, p.User)), options, ex
}

// withSchemaText makes sure that the prompt shows its schema.
func withSchemaText(p prompts.Prompt) prompts.Prompt {
	if schema := string(p.Schema); !strings.Contains(p.System, schema) && !strings.Contains(p.User, schema) {
		p.User += "\n\nAnswer with one JSON object that fits this JSON Schema, and with nothing else:\n" + schema
	}
	return p
}

// toolName is the prompt's name in the characters and length that servers take.
func toolName(p prompts.Prompt) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, p.Name)
	return cmp.Or(name[:min(len(name), 64)], "answer")
}
