package llm

import (
	"bytes"
	"encoding/json"
	"fmt"

	"nightdesk/prompts"
)

// withBounds narrows the schema that is sent to the prompt's bounds. The copy in the prompt's text stays as it is: the
// text says them in words, and is the same for all questions of its kind. Small models that decode by such a grammar
// neither leave a list empty nor go on with it for ever, and name no tool that does not exist.
//
// Only items are counted. A limit on the length of a string becomes one nested grammar rule for each character, and
// 1,500 of them crash llama-cpp-python 0.3.
//
// It works on the text, because the order of properties matters; a bound whose property is not written as compact JSON
// with its type first is left out.
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

// insertAfter returns schema with text behind each occurrence of at, in new memory.
func insertAfter(schema json.RawMessage, at, text string) json.RawMessage {
	return bytes.ReplaceAll(schema, []byte(at), []byte(at+text))
}
