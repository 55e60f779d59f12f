package answer

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// CutHint is what Extract adds to the errors of a cut answer.
const CutHint = "the answer was cut by the token limit: answer more briefly"

const (
	maxCandidates = 200 // objects examined in one answer
	maxOpenScans  = 32  // scans that may reach the end of the text; bounds the work on "{{{{"
	maxMended     = 4   // malformed pieces that are repaired, the longest first; each may take seconds
	maxAnswer     = 1 << 20
)

// candidate is a part of an answer that may be the requested JSON object.
type candidate struct {
	text string
	open bool // the object is unterminated
}

// Extract finds the object in a model's answer that fits the schema. It returns the object, closed and without the
// think property, or the errors of the nearest candidate. text may be anything. cut means that the token limit ended
// it. Nothing is then added to the object; only its incomplete last element is dropped.
//
// Extract returns the first object that fits unchanged, so that an example before the answer does not take
// precedence. Otherwise it returns the first one that fits after coercion, otherwise one with repairable syntax.
func (s *Schema) Extract(text string, cut bool) (json.RawMessage, []string) {
	if len(text) > maxAnswer {
		return nil, []string{"the answer is longer than 1 MB"}
	}
	if stripped := StripThinking(text); stripped != "" {
		text = stripped
	}
	found := candidates(text)
	if len(found) == 0 {
		return nil, []string{"the answer has no JSON object"}
	}
	var parsed []map[string]any
	var unparsed []candidate
	best := []string{"the JSON object is not complete"}
	for _, c := range found {
		value, err := parseObject(fixEscapes(c.text))
		if c.open || err != nil {
			if unparsed = append(unparsed, c); !c.open {
				best = []string{"the JSON is malformed: " + topicqueue.Clip(err.Error(), 200)}
			}
			continue
		}
		s.dropThink(value)
		if s.check(value) == nil {
			return s.encode(value)
		}
		parsed = append(parsed, value)
	}
	for i, value := range parsed {
		answer, errs := s.coerced(value, !cut)
		if errs == nil {
			return answer, nil
		}
		if i == 0 || len(errs) < len(best) {
			best = errs
		}
	}
	slices.SortStableFunc(unparsed, func(a, b candidate) int { return len(b.text) - len(a.text) })
	for _, c := range unparsed[:min(len(unparsed), maxMended)] {
		for _, value := range s.mended(c, cut) {
			answer, errs := s.coerced(value, !cut)
			if errs == nil {
				return answer, nil
			}
			if len(parsed) == 0 {
				best = errs
			}
		}
	}
	if cut {
		best = append(best, CutHint)
	}
	return nil, best
}

// coerced coerces value and validates it. It unwraps an object that has the answer in one of its members.
func (s *Schema) coerced(value map[string]any, addLists bool) (json.RawMessage, []string) {
	fixed := s.coerce(value, addLists)
	errs := s.check(fixed)
	if errs == nil {
		return s.encode(fixed)
	}
	for _, member := range value {
		inner, ok := member.(map[string]any)
		if text, isText := member.(string); isText && strings.HasPrefix(strings.TrimSpace(text), "{") {
			object, err := parseObject(fixEscapes(text)) // {"name": ..., "arguments": "{...}"}
			inner, ok = object, err == nil
		}
		if !ok {
			continue
		}
		s.dropThink(inner)
		if fixed := s.coerce(inner, addLists); s.check(fixed) == nil {
			return s.encode(fixed)
		}
	}
	return nil, errs
}

// dropThink removes the property added by withThink.
func (s *Schema) dropThink(value map[string]any) {
	if !s.owns("think") {
		delete(value, "think")
	}
}

func (s *Schema) encode(value any) (json.RawMessage, []string) {
	out, err := json.Marshal(printable(s.coerce(value, false))) // integral numbers in a form that Go decodes into an int
	if err != nil {
		return nil, []string{"cannot encode the response: " + err.Error()}
	}
	return out, nil
}

// printable removes hidden characters from all texts of an answer. They may be written as escapes, which only
// decoding reveals.
func printable(value any) any {
	switch v := value.(type) {
	case string:
		return topicqueue.Printable(v)
	case []any:
		for i := range v {
			v[i] = printable(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = printable(v[key])
		}
	}
	return value
}

// candidates finds the parts of a text that may be objects, in order: balanced ones, and an unterminated one at the
// end. Braces within JSON strings do not count.
func candidates(text string) []candidate {
	var found []candidate
	scans := 0
	for at := 0; len(found) < maxCandidates && scans < maxOpenScans; {
		start := strings.IndexByte(text[at:], '{')
		if start < 0 {
			break
		}
		start += at
		end, ok := balanced(text[start:])
		if !ok {
			if scans == 0 { // the widest one; then look for balanced objects inside it
				found = append(found, candidate{text: text[start:], open: true})
			}
			scans++
			at = start + 1
			continue
		}
		found = append(found, candidate{text: text[start : start+end]})
		if beginsObject(text[start:]) {
			at = start + end
		} else {
			at = start + 1 // braces in prose may contain the object
		}
	}
	return found
}

// balanced returns the length of the object at the start of text.
func balanced(text string) (int, bool) {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}

// beginsObject reports whether the text after an opening brace begins like a JSON object.
func beginsObject(text string) bool {
	rest := strings.TrimLeft(text[1:], " \t\r\n")
	return rest != "" && (rest[0] == '"' || rest[0] == '}' || rest[0] == '\'')
}

// parseObject decodes one JSON object strictly. Numbers stay json.Number.
func parseObject(text string) (map[string]any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var value map[string]any
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	if value == nil {
		return nil, errors.New("the answer is null, not an object")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("unexpected text after the JSON object")
	}
	return value, nil
}
