package llm

import (
	"bytes"
	"encoding/json"
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
// the schema to the model. Ask removes the property again. A schema that is not a plain object, or already has a
// think property, is unchanged.
func withThink(p prompts.Prompt) prompts.Prompt {
	schema, ok := insertThink(p.Schema)
	if !ok {
		return p
	}
	p.System = strings.TrimSpace(p.System + "\n\n" + thinkText)
	p.User = strings.ReplaceAll(p.User, string(p.Schema), string(schema)) // in a second question
	p.Schema = schema
	return p
}

// insertThink edits the text, because decoding into a map would lose the order of the properties.
func insertThink(schema json.RawMessage) (json.RawMessage, bool) {
	var shape struct {
		Type       any                        `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(schema, &shape) != nil || shape.Type != "object" || len(shape.Properties) == 0 ||
		len(shape.Required) == 0 {
		return nil, false
	}
	if _, has := shape.Properties["think"]; has {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(schema))
	if _, err := dec.Token(); err != nil {
		return nil, false
	}
	out, copied := make([]byte, 0, len(schema)+len(thinkProperty)+16), 0
	insert := func(offset int64, text string) {
		out = append(append(out, schema[copied:offset]...), text...)
		copied = int(offset)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, false
		}
		after := dec.InputOffset() - int64(len(value)) + 1 // after the value's opening bracket
		switch key {
		case "properties":
			insert(after, thinkProperty+",")
		case "required":
			insert(after, `"think",`)
		}
	}
	return append(out, schema[copied:]...), true
}

// endsInThink reports whether a text begins with an object whose first member is an unterminated think string.
func endsInThink(text string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "{")
	if !ok {
		return false
	}
	if rest, ok = strings.CutPrefix(strings.TrimSpace(rest), `"think"`); !ok {
		return false
	}
	if rest, ok = strings.CutPrefix(strings.TrimSpace(rest), ":"); !ok {
		return false
	}
	if rest, ok = strings.CutPrefix(strings.TrimSpace(rest), `"`); !ok {
		return false
	}
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			return false
		}
	}
	return true
}
