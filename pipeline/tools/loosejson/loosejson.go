// Package loosejson reads the JSON of public services, which document its members but do not always keep to it. Members
// are named by paths such as "web.results". A member that is missing or has another type is empty, so that one odd
// value does not cost a whole answer.
//
// Entry points: [Parse] and [Value.Items].
package loosejson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Value is a value of any type.
type Value struct{ any any }

// Parse parses a JSON object. The error describes what the body is instead.
func Parse(body []byte) (Value, error) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	switch {
	case len(body) == 0:
		return Value{}, errors.New("empty response")
	case body[0] == '<':
		return Value{}, errors.New("HTML response, JSON expected")
	case body[0] != '{':
		return Value{}, errors.New("response is not a JSON object")
	}
	var v Value
	if err := json.Unmarshal(body, &v.any); err != nil {
		return Value{}, fmt.Errorf("response is not in the documented format: %w", err)
	}
	return v, nil
}

// At returns a member. The path "" is v itself.
func (v Value) At(path string) Value {
	for path != "" {
		var name string
		name, path, _ = strings.Cut(path, ".")
		object, _ := v.any.(map[string]any)
		v = Value{object[name]}
	}
	return v
}

// Has reports whether a member exists and is not null.
func (v Value) Has(path string) bool { return v.At(path).any != nil }

// List returns the elements of a list.
func (v Value) List(path string) []Value {
	list, _ := v.At(path).any.([]any)
	out := make([]Value, len(list))
	for i, item := range list {
		out[i] = Value{item}
	}
	return out
}

// Items returns the objects of a list, without other elements. It is an error if the member is not a list, or if it has
// elements but no objects.
func (v Value) Items(path string) ([]Value, error) {
	if _, ok := v.At(path).any.([]any); !ok {
		return nil, fmt.Errorf("response has no list %q", path)
	}
	list := v.List(path)
	var items []Value
	for _, item := range list {
		if _, ok := item.any.(map[string]any); ok {
			items = append(items, item)
		}
	}
	if len(items) == 0 && len(list) > 0 {
		return nil, fmt.Errorf("%q is not in the documented format", path)
	}
	return items, nil
}

// Text returns a string, or the first string of a list.
func (v Value) Text(path string) string {
	if text, ok := v.At(path).any.(string); ok {
		return text
	}
	for _, text := range v.Texts(path) {
		return text
	}
	return ""
}

// Texts returns the strings of a list.
func (v Value) Texts(path string) []string {
	var out []string
	for _, item := range v.List(path) {
		if text, ok := item.any.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// Number returns a whole number.
func (v Value) Number(path string) int {
	n, _ := v.At(path).any.(float64)
	return int(min(max(n, -1<<31), 1<<31))
}

// Is reports whether a member is true.
func (v Value) Is(path string) bool { return v.At(path).any == true }

// Object returns the members of an object.
func (v Value) Object(path string) map[string]Value {
	object, _ := v.At(path).any.(map[string]any)
	out := make(map[string]Value, len(object))
	for name, member := range object {
		out[name] = Value{member}
	}
	return out
}
