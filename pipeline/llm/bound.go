package llm

import (
	"bytes"
	"encoding/json"
	"fmt"

	"nightdesk/prompts"
)

// withBounds adds the prompt's bounds to the schema that is sent. The copy in the prompt's text is unchanged, because
// the text states the bounds in words and stays the same for all questions of its kind. With such a grammar, small
// models neither leave a list empty nor continue it without end, and name only existing tools.
//
// Only items are counted. A limit on the length of a string becomes one nested grammar rule per character, and 1,500
// of them crash llama-cpp-python 0.3.
//
// It edits the text, because the order of properties matters. It skips a bound whose property is not written as
// compact JSON with its type first.
func withBounds(p prompts.Prompt) prompts.Prompt {
	for _, b := range p.Bounds {
		list := fmt.Sprintf(`"%s":{"type":"array"`, b.Property)
		if len(b.OneOf) > 0 {
			if values, err := json.Marshal(b.OneOf); err == nil {
				enum := `,"enum":` + string(values)
				p.Schema = insertAfter(p.Schema, fmt.Sprintf(`"%s":{"type":"string"`, b.Property), enum)
				p.Schema = insertAfter(p.Schema, list+`,"items":{"type":"string"`, enum)
			}
		}
		if b.Least > 0 {
			p.Schema = insertAfter(p.Schema, list, fmt.Sprintf(`,"minItems":%d`, b.Least))
		}
		if b.Most > 0 && b.Most >= b.Least {
			p.Schema = insertAfter(p.Schema, list, fmt.Sprintf(`,"maxItems":%d`, b.Most))
		}
	}
	return p
}

// insertAfter returns a copy of schema with text inserted after each occurrence of at.
func insertAfter(schema json.RawMessage, at, text string) json.RawMessage {
	return bytes.ReplaceAll(schema, []byte(at), []byte(at+text))
}
