package llm

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
)

// answerSchema is a compiled schema with its decoded form, which coerce walks.
type answerSchema struct {
	compiled *jsonschema.Schema
	root     map[string]any
}

const maxSchemas = 256 // kept compiled; a program has a dozen

// schemaCache keeps compiled schemas by their text: compiling takes longer than all the rest of reading an answer.
type schemaCache struct {
	mu   sync.Mutex
	kept map[string]*answerSchema
}

var compiledSchemas = schemaCache{kept: map[string]*answerSchema{}}

func (c *schemaCache) compile(text json.RawMessage) (*answerSchema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.kept[string(text)]; ok {
		return s, nil
	}
	s, err := compileSchema(text)
	if err != nil {
		return nil, err
	}
	if len(c.kept) >= maxSchemas {
		clear(c.kept)
	}
	c.kept[string(text)] = s
	return s, nil
}

func compileSchema(text json.RawMessage) (*answerSchema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read the answer's schema: %w", err)
	}
	root, ok := doc.(map[string]any)
	if !ok {
		return nil, errors.New("read the answer's schema: it is not an object")
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{}) // a reference never opens a file or a URL
	if err := compiler.AddResource("answer.json", doc); err != nil {
		return nil, fmt.Errorf("read the answer's schema: %w", err)
	}
	compiled, err := compiler.Compile("answer.json")
	if err != nil {
		return nil, fmt.Errorf("compile the answer's schema: %w", err)
	}
	return &answerSchema{compiled: compiled, root: root}, nil
}

const maxErrors = 20 // shown to the model and to a person

// check validates a decoded value and returns every error with its path; none = valid.
func (s *answerSchema) check(value any) []string {
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
			list = append(list, clip(at+": "+e.ErrorKind.LocalizedString(printer), 300))
		}
		for _, cause := range e.Causes {
			walk(cause)
		}
	}
	walk(invalid)
	if len(list) == 0 {
		list = []string{clip(err.Error(), 300)}
	}
	return list
}

// owns reports whether the schema itself has a property of this name.
func (s *answerSchema) owns(property string) bool {
	properties, _ := s.root["properties"].(map[string]any)
	_, ok := properties[property]
	return ok
}
