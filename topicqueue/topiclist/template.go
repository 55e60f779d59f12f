package topiclist

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// Template builds topics from rows: "What changed at {ticker} in {year}?". A variable is the name of a column,
// compared like columns; {{ and }} stand for literal braces.
type Template struct {
	parts []part
}

// part is literal text, or a variable if name is set.
type part struct{ text, name string }

// ParseTemplate parses a template, which must contain a variable.
func ParseTemplate(text string) (*Template, error) {
	t := &Template{}
	var plain strings.Builder
	for rest := text; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			plain.WriteString(rest)
			break
		}
		plain.WriteString(rest[:i])
		brace := rest[i]
		rest = rest[i+1:]
		if rest != "" && rest[0] == brace {
			plain.WriteByte(brace)
			rest = rest[1:]
			continue
		}
		if brace == '}' {
			return nil, errors.New("the template has a } without a {; write }} for a literal brace")
		}
		end := strings.IndexAny(rest, "{}")
		if end < 0 || rest[end] == '{' {
			return nil, errors.New("the template has a { without a }; write {{ for a literal brace")
		}
		name := canonical(rest[:end])
		if name == "" {
			return nil, errors.New("the template has a variable without a name, {}; write {{ and }} for literal braces")
		}
		rest = rest[end+1:]
		t.parts = append(t.parts, part{text: plain.String()}, part{name: name})
		plain.Reset()
	}
	t.parts = append(t.parts, part{text: plain.String()})
	if len(t.parts) == 1 {
		return nil, errors.New("the template contains no variable such as {topic}, so all topics would be the same")
	}
	return t, nil
}

// Variables returns the canonical names of the variables, without duplicates. A nil Template has none.
func (t *Template) Variables() []string {
	var names []string
	if t != nil {
		for _, p := range t.parts {
			if p.name != "" && !slices.Contains(names, p.name) {
				names = append(names, p.name)
			}
		}
	}
	return names
}

// has reports whether a column is a variable of the template.
func (t *Template) has(name string) bool {
	return t != nil && slices.ContainsFunc(t.parts, func(p part) bool { return p.name != "" && p.name == name })
}

// Fill replaces the variables with values, which are by canonical name. A variable without a value is an error.
func (t *Template) Fill(values map[string]string) (string, error) {
	var out strings.Builder
	for _, p := range t.parts {
		if p.name == "" {
			out.WriteString(p.text)
			continue
		}
		v := values[p.name]
		if v == "" {
			return "", fmt.Errorf("the template needs {%s}, which is missing here", topicqueue.Clip(p.name, 60))
		}
		out.WriteString(v)
	}
	return out.String(), nil
}
