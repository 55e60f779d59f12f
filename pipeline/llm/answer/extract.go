package answer

import (
	"encoding/json"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// CutHint is what Extract adds to the errors of a cut answer.
const CutHint = "the answer was cut by the token limit: answer more briefly"

const (
	maxCandidates = 200 // objects examined in one answer
	maxScans      = 32  // bytes read per byte of the answer; bounds the work on "{{{{"
	maxMended     = 4   // objects that are not JSON and are repaired, the longest first
	maxDropped    = 8   // unfinished objects and lists that are dropped from the end of one
	maxAnswer     = 1 << 20
)

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
	parsed, broken, best := objects(text, cut)
	for _, value := range parsed {
		if s.check(s.dropThink(value)) == nil {
			return s.encode(value)
		}
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
	slices.SortStableFunc(broken, func(a, b string) int { return len(b) - len(a) })
	for _, object := range broken[:min(len(broken), maxMended)] {
		for drop := range maxDropped {
			r := reader{text: object, cut: cut, drop: drop}
			value, _ := r.object()
			if r.drop > 0 {
				break
			}
			answer, errs := s.coerced(s.dropThink(value), !cut)
			if errs == nil {
				return answer, nil
			}
			if len(parsed) == 0 && drop == 0 {
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
			inner, _, ok = readObject(strings.TrimSpace(text)) // {"name": ..., "arguments": "{...}"}
		}
		if !ok {
			continue
		}
		if fixed := s.coerce(s.dropThink(inner), addLists); s.check(fixed) == nil {
			return s.encode(fixed)
		}
	}
	return nil, errs
}

// dropThink removes the property added by withThink.
func (s *Schema) dropThink(value map[string]any) map[string]any {
	if !s.owns("think") {
		delete(value, "think")
	}
	return value
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

// objects finds the objects in a text: those that are JSON, and the others. wrong says what is wrong with the first of
// these.
func objects(text string, cut bool) (parsed []map[string]any, broken, wrong []string) {
	wrong = []string{"the answer has no JSON object"}
	for at, scanned := 0, 0; len(parsed)+len(broken) < maxCandidates && scanned < maxScans*len(text); {
		start := strings.IndexByte(text[at:], '{')
		if start < 0 {
			break
		}
		at += start
		value, length, ok := readObject(text[at:])
		if ok {
			parsed, at = append(parsed, value), at+length
			continue
		}
		r := reader{text: text[at:], cut: cut}
		_, ok = r.object()
		scanned += length + r.at
		if ok {
			if broken = append(broken, text[at:at+r.at]); len(broken) == 1 {
				wrong = malformed(broken[0])
			}
		}
		if !ok || r.open { // braces in prose, and an object without an end, may contain the object
			r.at = 1
		}
		at += r.at
	}
	return parsed, broken, wrong
}

// readObject reads a JSON object at the start of text, and returns its length, or how far it was read.
func readObject(text string) (value map[string]any, length int, ok bool) {
	r := reader{text: text, strict: true}
	value, ok = r.object()
	return value, r.at, ok && !r.mended && !r.open
}

// malformed returns why a text is no JSON.
func malformed(text string) []string {
	var any json.RawMessage
	if err := json.Unmarshal([]byte(text), &any); err != nil {
		return []string{"the JSON is malformed: " + topicqueue.Clip(err.Error(), 200)}
	}
	return []string{"the JSON object is not complete"}
}
