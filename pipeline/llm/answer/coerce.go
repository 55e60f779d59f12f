package answer

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// coerce corrects unambiguous type errors: a number or boolean written as a string or the reverse, a single value
// instead of a list, null instead of a list, an unknown member of a closed schema. With addLists, a missing required
// list becomes empty. Values that fit are unchanged.
func (s *Schema) coerce(value any, addLists bool) any {
	return coercion(addLists).apply(s.root, value)
}

type coercion bool // add missing lists

func (c coercion) apply(node map[string]any, value any) any {
	types := typesOf(node)
	if len(types) == 0 {
		return value
	}
	if !slices.Contains(types, kindOf(value)) && !(kindOf(value) == "number" && slices.Contains(types, "integer")) {
		if len(types) > 1 {
			return value // more than one meaning is possible
		}
		value = c.convert(types[0], node, value)
	}
	switch v := value.(type) {
	case json.Number:
		if slices.Contains(types, "integer") && !slices.Contains(types, "number") {
			return whole(v)
		}
	case []any:
		if items, ok := node["items"].(map[string]any); ok {
			out := make([]any, len(v))
			for i := range v {
				out[i] = c.apply(items, v[i])
			}
			return out
		}
	case map[string]any:
		return c.object(node, v)
	}
	return value
}

// object coerces the members into a new map, drops unknown members of a closed object and adds missing lists.
func (c coercion) object(node, value map[string]any) map[string]any {
	properties, _ := node["properties"].(map[string]any)
	closed := node["additionalProperties"] == false
	out := make(map[string]any, len(value))
	for key, member := range value {
		property, known := properties[key].(map[string]any)
		switch {
		case known:
			out[key] = c.apply(property, member)
		case !closed:
			out[key] = member
		}
	}
	if required, ok := node["required"].([]any); ok && bool(c) && len(out) > 0 {
		for _, name := range required {
			key, _ := name.(string)
			property, _ := properties[key].(map[string]any)
			if _, has := out[key]; !has && slices.Equal(typesOf(property), []string{"array"}) {
				out[key] = []any{}
			}
		}
	}
	return out
}

// convert returns value as the wanted type if that is unambiguous, otherwise value.
func (c coercion) convert(want string, node map[string]any, value any) any {
	switch want {
	case "string":
		switch v := value.(type) {
		case json.Number:
			return v.String()
		case bool:
			return strconv.FormatBool(v)
		}
	case "number", "integer":
		if text, ok := value.(string); ok && json.Valid([]byte(strings.TrimSpace(text))) {
			n := json.Number(strings.TrimSpace(text))
			if f, err := n.Float64(); err == nil && !math.IsInf(f, 0) {
				return n
			}
		}
	case "boolean":
		if text, ok := value.(string); ok {
			switch strings.ToLower(strings.TrimSpace(text)) {
			case "true":
				return true
			case "false":
				return false
			}
		}
	case "array":
		if value == nil {
			return []any{}
		}
		if items, ok := node["items"].(map[string]any); ok {
			if slices.Contains(typesOf(items), kindOf(value)) {
				return []any{value}
			}
		}
	}
	return value
}

// whole returns an integral number in plain digits, because "3.0" and "3e2" do not decode into an int. Other numbers
// are unchanged.
func whole(n json.Number) json.Number {
	if !strings.ContainsAny(string(n), ".eE") {
		return n
	}
	if f, err := n.Float64(); err != nil || math.Abs(f) > math.MaxInt64/2 { // also prevents computing 1e999999999
		return n
	}
	if rat, ok := new(big.Rat).SetString(string(n)); ok && rat.IsInt() {
		return json.Number(rat.Num().String())
	}
	return n
}

func typesOf(node map[string]any) []string {
	switch t := node["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var types []string
		for _, name := range t {
			if text, ok := name.(string); ok {
				types = append(types, text)
			}
		}
		return types
	}
	return nil
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}
