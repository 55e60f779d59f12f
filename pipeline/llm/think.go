package llm

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"nightdesk/prompts"
)

var thinkTag = regexp.MustCompile(`(?i)<(/?)(think|thinking|reasoning)>`)

// StripThinking removes a model's reasoning between <think>, <thinking> or <reasoning> tags from an answer, and trims
// white space: blocks at the start or at the beginning of a line, an opening tag at the start that is never closed
// (the answer is then empty), and what precedes a closing tag that was never opened. A text that begins with { or [
// is JSON and only trimmed; tags in the middle of a line are the text's own. Linear in the length of text.
func StripThinking(text string) string {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "<") {
		return text
	}
	var kept strings.Builder       // what stays of text[:copied]
	open := map[string]int{}       // tags that belong to the text and wait for their closing one
	unclosed := map[string]bool{}  // names without a closing tag ahead
	at, copied, content := 0, 0, 0 // content: where text[copied:] has its first letter
	skip := func(to int) {
		at, copied = to, to
		content = len(text) - len(strings.TrimLeftFunc(text[to:], unicode.IsSpace))
	}
	for {
		if kept.Len() == 0 && content < len(text) && (text[content] == '{' || text[content] == '[') {
			return text[content:]
		}
		tag := thinkTag.FindStringSubmatchIndex(text[at:])
		if tag == nil {
			kept.WriteString(text[copied:])
			return strings.TrimSpace(kept.String())
		}
		start, end := at+tag[0], at+tag[1]
		closing, name := tag[2] != tag[3], strings.ToLower(text[at+tag[4]:at+tag[5]])
		before := strings.TrimRight(text[copied:start], " \t")
		first := kept.Len() == 0 && content >= start
		at = end
		switch {
		case start > 0 && text[start-1] == '`': // quoted
		case closing && open[name] > 0:
			open[name]--
		case closing: // never opened: some chat templates open it themselves
			kept.Reset()
			skip(end)
		case !first && !strings.HasSuffix(firstOf(before, kept.String()), "\n"), unclosed[name]:
			open[name]++
		default:
			length := closingTag(text[end:], name)
			switch {
			case length >= 0:
				if !first {
					kept.WriteString(before)
				}
				skip(end + length)
			case first:
				return ""
			default:
				unclosed[name] = true
			}
		}
	}
}

// closingTag returns the offset after the first closing tag of this name, -1 for none.
func closingTag(text, name string) int {
	for at := 0; ; {
		tag := thinkTag.FindStringSubmatchIndex(text[at:])
		if tag == nil {
			return -1
		}
		if tag[2] != tag[3] && strings.EqualFold(text[at+tag[4]:at+tag[5]], name) {
			return at + tag[1]
		}
		at += tag[1]
	}
}

const (
	thinkText     = "The first key of the answer is think: the considerations behind the answer, in at most 150 words."
	thinkProperty = `"think":{"type":"string","description":"think first: the considerations behind the answer, in at most 150 words"}`
)

// withThink puts a think string before the other properties of the answer, for models that do not think by themselves:
// they write in the order of the schema. The prompt says so too, since not every server shows a model its schema. Ask
// removes the property again. A schema that is no plain object, or has a think property, stays as it is.
func withThink(p prompts.Prompt) prompts.Prompt {
	schema, ok := insertThink(p.Schema)
	if !ok {
		return p
	}
	p.System = strings.TrimSpace(p.System + "\n\n" + thinkText)
	p.User = strings.ReplaceAll(p.User, string(p.Schema), string(schema)) // of a second question
	p.Schema = schema
	return p
}

// insertThink works on the text, because decoding into a map would lose the order of the properties.
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
		after := dec.InputOffset() - int64(len(value)) + 1 // behind the value's opening bracket
		switch key {
		case "properties":
			insert(after, thinkProperty+",")
		case "required":
			insert(after, `"think",`)
		}
	}
	return append(out, schema[copied:]...), true
}

// endsInThink reports whether a text begins with an object whose think string is its first member and never ends.
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
