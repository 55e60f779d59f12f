package websearch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// decode parses a JSON object. The error describes what the body is instead.
func decode(body []byte, into any) error {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	switch {
	case len(body) == 0:
		return errors.New("empty response")
	case body[0] == '<':
		return errors.New("HTML response, JSON expected")
	case body[0] != '{':
		return errors.New("response is not a JSON object")
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("response is not in the documented format: %w", err)
	}
	return nil
}

// each decodes the items of a list one by one and skips malformed items. It fails if all items are malformed.
func each[T any](list []json.RawMessage) ([]T, error) {
	var out []T
	var odd error
	for _, raw := range list {
		var item T
		if err := json.Unmarshal(raw, &item); err != nil {
			odd = err
			continue
		}
		out = append(out, item)
	}
	if len(out) == 0 && odd != nil {
		return nil, fmt.Errorf("results are not in the documented format: %w", odd)
	}
	return out, nil
}

// texts returns the strings in a list of arbitrary items.
func texts(list []json.RawMessage) []string {
	out, _ := each[string](list)
	return out
}

// mustHave returns an error if a list that every answer has is missing.
func mustHave(list []json.RawMessage, name string) error {
	if list == nil {
		return fmt.Errorf("response has no %q", name)
	}
	return nil
}

// jsonBody returns the JSON of v for a request body. The values used here can always be encoded.
func jsonBody(v any) []byte {
	body, _ := json.Marshal(v)
	return body
}
