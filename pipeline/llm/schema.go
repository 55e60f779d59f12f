package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"nightdesk/prompts"
)

const (
	thinkText     = "The first key of the answer is think: the considerations behind the answer, in at most 150 words."
	thinkProperty = `"think":{"type":"string","description":` +
		`"think first: the considerations behind the answer, in at most 150 words"}`
)

// withThink inserts a think string before the other properties of the answer, for models that do not reason by
// themselves. Models write in the order of the schema. The prompt also asks for it, because not every server shows
// the schema to the model. Ask removes the property again.
//
// It edits the text, because the order of properties matters. It skips a schema that is not compact JSON with its
// properties before its required ones, or already has a think property.
func withThink(p prompts.Prompt) prompts.Prompt {
	const properties, required = `"properties":{`, `"required":[`
	schema := string(p.Schema)
	begin, end := strings.Index(schema, properties), strings.LastIndex(schema, required)
	if begin < 0 || end < begin || strings.Contains(schema, `"think":`) {
		return p
	}
	begin, end = begin+len(properties), end+len(required)
	with := schema[:begin] + thinkProperty + "," + schema[begin:end] + `"think",` + schema[end:]
	p.System = strings.ReplaceAll(p.System, "\n{\"", "\n{\"think\":\"...\",\"") + "\n\n" + thinkText
	p.User = strings.ReplaceAll(p.User, schema, with) // in a second question
	p.Schema = json.RawMessage(with)
	return p
}

// unendedThink matches an object whose first member is an unterminated think string.
var unendedThink = regexp.MustCompile(`^\s*\{\s*"think"\s*:\s*"([^"\\]|\\.)*\\?$`)

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
