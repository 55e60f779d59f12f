package websearch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// decode reads an object of JSON. The error says what came in its place.
func decode(body []byte, into any) error {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	switch {
	case len(body) == 0:
		return errors.New("it answers with nothing")
	case body[0] == '<':
		return errors.New("it answers with a web page in the place of JSON")
	case body[0] != '{':
		return errors.New("it answers with something that is no JSON object")
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("its answer is not in its format: %w", err)
	}
	return nil
}

// each decodes the items of a list by themselves, so that one that is odd costs no other. It fails when there are
// items and all of them are odd.
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
		return nil, fmt.Errorf("its results are not in the documented format: %w", odd)
	}
	return out, nil
}

// texts returns the strings of a list whose items may be anything.
func texts(list []json.RawMessage) []string {
	out, _ := each[string](list)
	return out
}

// mustHave fails when a list that every answer has is missing: then it is the answer to something else.
func mustHave(list []json.RawMessage, name string) error {
	if list == nil {
		return fmt.Errorf("its answer has no %q", name)
	}
	return nil
}

// jsonBody returns a request's body. What is encoded here always can be.
func jsonBody(v any) []byte {
	body, _ := json.Marshal(v)
	return body
}
