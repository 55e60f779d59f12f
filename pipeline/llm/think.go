package llm

import (
	"encoding/json"
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
	p.System = strings.TrimSpace(p.System + "\n\n" + thinkText)
	p.User = strings.ReplaceAll(p.User, schema, with) // in a second question
	p.Schema = json.RawMessage(with)
	return p
}

// unendedThink matches an object whose first member is an unterminated think string.
var unendedThink = regexp.MustCompile(`^\s*\{\s*"think"\s*:\s*"([^"\\]|\\.)*\\?$`)
