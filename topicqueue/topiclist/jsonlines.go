package topiclist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

type jsonRows struct {
	lines lineReader
	means func(name string) bool // reports whether a field is an option or a variable
}

func (j *jsonRows) next() (row, error) {
	for {
		text, err := j.lines.next()
		if err != nil {
			return row{}, err
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		r := row{line: j.lines.line}
		if r.values, err = objectValues(text, j.means); err != nil {
			return row{}, &RowError{r.line, err.Error()}
		}
		return r, nil
	}
}

// objectValues parses one line: an object, whose values become text, or a string, which is the topic.
func objectValues(text []byte, means func(string) bool) (map[string]string, error) {
	if !utf8.Valid(text) {
		return nil, errors.New(notUTF8)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("invalid JSON (%w); each line must be an object such as {\"topic\": \"...\"}", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value on the line; give one object per line")
	}
	switch v := v.(type) {
	case string:
		text, err := valueText(v)
		return map[string]string{"topic": text}, err
	case map[string]any:
		values := map[string]string{}
		for name, value := range v {
			c := canonical(name)
			if c == "" {
				return nil, errors.New("a field has no name")
			}
			text, err := valueText(value)
			if err != nil && means(c) {
				return nil, fmt.Errorf("%q: %w", c, err)
			}
			if text == "" || err != nil {
				continue
			}
			if _, twice := values[c]; twice {
				return nil, fmt.Errorf("duplicate key %q", c)
			}
			values[c] = text
		}
		return values, nil
	case []any:
		return nil, errors.New("the line is a JSON array; give one object per line (jq -c '.[]' FILE converts an array)")
	}
	return nil, errors.New("each line must be an object such as {\"topic\": \"...\"}, or a string")
}

// valueText returns a value as text, as it would be written in a CSV file.
func valueText(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		text, ok := cleanCell(v)
		if !ok {
			return "", errors.New(notUTF8)
		}
		return text, nil
	case json.Number:
		return v.String(), nil
	case bool:
		if v {
			return "true", nil
		}
		return "false", nil
	case []any:
		var parts []string
		for _, item := range v {
			if _, list := item.([]any); list {
				return "", errors.New("nested lists are not supported")
			}
			text, err := valueText(item)
			if err != nil {
				return "", err
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, ", "), nil
	}
	return "", errors.New("objects are not supported as values; use a string, a number or a list of strings")
}
