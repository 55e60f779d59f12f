// Package answer reads a model's answer: it removes the model's reasoning from a text, finds the JSON object that
// fits a schema, repairs syntax errors, and corrects type errors. Start reading with Compile and Schema.Extract.
package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"nightdesk/topicqueue"
)

// Schema is a compiled JSON schema for answers, with its decoded form for coerce.
type Schema struct {
	compiled *jsonschema.Schema
	root     map[string]any
}

// compiled caches schemas by their text, because compiling takes longer than the rest of reading an answer. They are
// those of the prompts, a dozen.
var compiled sync.Map

// Compile returns the schema for a text, a JSON object. Compile and Schema are safe for concurrent use.
func Compile(text json.RawMessage) (*Schema, error) {
	if s, ok := compiled.Load(string(text)); ok {
		return s.(*Schema), nil
	}
	s, err := compile(text)
	if err == nil {
		compiled.Store(string(text), s)
	}
	return s, err
}

func compile(text json.RawMessage) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read the answer's schema: %w", err)
	}
	root, ok := doc.(map[string]any)
	if !ok {
		return nil, errors.New("read the answer's schema: it is not an object")
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{}) // a reference never opens a file or URL
	if err := compiler.AddResource("answer.json", doc); err != nil {
		return nil, fmt.Errorf("read the answer's schema: %w", err)
	}
	compiled, err := compiler.Compile("answer.json")
	if err != nil {
		return nil, fmt.Errorf("compile the answer's schema: %w", err)
	}
	return &Schema{compiled: compiled, root: root}, nil
}

const maxErrors = 20 // maximum number shown to the model and to a reader

// check validates a decoded value and returns every error with its path; none if valid.
func (s *Schema) check(value any) []string {
	err := s.compiled.Validate(value)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []string{err.Error()}
	}
	printer := message.NewPrinter(language.English)
	var list []string
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 && len(list) < maxErrors {
			at := "/" + strings.Join(e.InstanceLocation, "/")
			list = append(list, topicqueue.Clip(at+": "+e.ErrorKind.LocalizedString(printer), 300))
		}
		for _, cause := range e.Causes {
			walk(cause)
		}
	}
	walk(invalid)
	if len(list) == 0 {
		list = []string{topicqueue.Clip(err.Error(), 300)}
	}
	return list
}

// owns reports whether the schema itself has this property.
func (s *Schema) owns(property string) bool {
	properties, _ := s.root["properties"].(map[string]any)
	_, ok := properties[property]
	return ok
}
