package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"nightdesk/topicqueue"
)

// Locations of parameters.
const (
	inPath   = "path"
	inQuery  = "query"
	inHeader = "header"
)

// param is a parameter of an endpoint.
type param struct {
	name, in, about string
	required        bool
	pattern         string   // required regular expression; empty: any text
	values          []string // allowed values; nil: any
	least, most     int      // limits of a number; both 0: the parameter is text
	longest         int      // maximum length of text in characters; 0: 1000
}

const longestText = 1000

// wrong returns why a value is invalid, or "" if it is valid.
func (p param) wrong(value string, given bool) string {
	longest := p.longest
	if longest == 0 {
		longest = longestText
	}
	switch {
	case value == "" && p.required:
		return "it must be given"
	case value == "" && (!given || p.free()):
		return ""
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return "it is not UTF-8 text"
	case p.values != nil:
		if !slices.Contains(p.values, value) {
			return "it is one of " + strings.Join(p.values, ", ")
		}
	case p.most > 0:
		if n, err := strconv.Atoi(value); err != nil || n < p.least || n > p.most {
			return fmt.Sprintf("it is a whole number from %d to %d", p.least, p.most)
		}
	case p.pattern != "" && !regexp.MustCompile(p.pattern).MatchString(value):
		return "it must match " + p.pattern
	case utf8.RuneCountInString(value) > longest:
		return fmt.Sprintf("it has more than %d characters", longest)
	}
	return ""
}

// free reports whether any text is valid.
func (p param) free() bool { return p.values == nil && p.most == 0 && p.pattern == "" }

func (p param) schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Pattern: p.pattern}
	switch {
	case p.values != nil:
		for _, v := range p.values {
			s.Enum = append(s.Enum, v)
		}
	case p.most > 0:
		least, most := float64(p.least), float64(p.most)
		return &jsonschema.Schema{Type: "integer", Minimum: &least, Maximum: &most}
	case p.pattern == "":
		longest := p.longest
		if longest == 0 {
			longest = longestText
		}
		s.MaxLength = &longest
		if p.required {
			one := 1
			s.MinLength = &one
		}
	}
	return s
}

// endpoint is one operation of the API.
type endpoint struct {
	method, path string // path under /v1
	id, about    string
	params       []param
	body         any   // value of the body's type; nil: no body
	maxBody      int64 // bytes; 0: the constant maxBody
	answer       any   // value of the response's type; nil: see kinds
	success      int   // 0: 200
	kinds        []string
	noContent    bool  // the response may also be 204
	refusals     []int // additional error statuses
	do           func(c *call) (any, error)
}

func (e endpoint) status() int {
	if e.success != 0 {
		return e.success
	}
	return http.StatusOK
}

// problems returns the error statuses of the endpoint.
func (e endpoint) problems(token bool) []int {
	out := append([]int{http.StatusBadRequest, http.StatusInternalServerError, http.StatusServiceUnavailable,
		http.StatusTooManyRequests},
		e.refusals...)
	if token {
		out = append(out, http.StatusUnauthorized)
	}
	if !token || e.method != http.MethodGet { // from another site's page, or without a token for another host name
		out = append(out, http.StatusForbidden)
	}
	if e.body != nil {
		out = append(out, http.StatusUnsupportedMediaType, http.StatusRequestEntityTooLarge)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// schemas maps type names to their schemas in the document.
type schemas struct {
	named map[string]*jsonschema.Schema
}

// of returns a reference to the schema of a value's type.
func (s *schemas) of(v any) (*jsonschema.Schema, error) {
	t := reflect.TypeOf(v)
	name := t.Name()
	if name == "" { // a slice
		item, err := s.of(reflect.New(t.Elem()).Elem().Interface())
		return &jsonschema.Schema{Type: "array", Items: item}, err
	}
	name = strings.ToUpper(name[:1]) + name[1:]
	if s.named[name] == nil {
		made, err := schemaOf(t)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", name, err)
		}
		s.named[name] = made
	}
	return &jsonschema.Schema{Ref: "#/components/schemas/" + name}, nil
}

// schemaOf returns the JSON schema of a type.
func schemaOf(t reflect.Type) (*jsonschema.Schema, error) {
	return jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[retryWhat]():       {Type: "string", Enum: retryWhats},
	}})
}

// valid validates a body against its schema.
func (e endpoint) valid(body json.RawMessage) error {
	schema, err := schemaOf(reflect.TypeOf(e.body))
	if err != nil {
		return err
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return resolved.Validate(value)
}

type object map[string]any

// document returns the OpenAPI document of all endpoints.
func document(all []endpoint, token bool) ([]byte, error) {
	types := &schemas{map[string]*jsonschema.Schema{}}
	refusal, err := types.of(Problem{})
	if err != nil {
		return nil, err
	}
	paths := map[string]object{}
	for _, e := range all {
		op, err := e.operation(types, refusal, token)
		if err != nil {
			return nil, err
		}
		if paths["/v1"+e.path] == nil {
			paths["/v1"+e.path] = object{}
		}
		paths["/v1"+e.path][strings.ToLower(e.method)] = op
	}
	components := object{"schemas": types.named}
	doc := object{
		"openapi": "3.1.0",
		"info": object{"title": "nightdesk", "version": "1",
			"description": "Runs, batches, digests, schedules and search of a nightdesk. `nightdesk help api` has examples."},
		"paths": paths, "components": components,
	}
	if token {
		components["securitySchemes"] = object{"bearer": object{"type": "http", "scheme": "bearer"}}
		doc["security"] = []object{{"bearer": []string{}}}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(doc)
	return out.Bytes(), err
}

func (e endpoint) operation(types *schemas, refusal *jsonschema.Schema, token bool) (object, error) {
	var params []object
	for _, p := range e.params {
		params = append(params, object{"name": p.name, "in": p.in, "description": p.about,
			"required": p.required || p.in == inPath, "schema": p.schema()})
	}
	answers, content := object{}, object{}
	if e.answer != nil {
		schema, err := types.of(e.answer)
		if err != nil {
			return nil, err
		}
		content["application/json"] = object{"schema": schema}
	}
	for _, kind := range e.kinds {
		content[kind] = object{"schema": object{}}
	}
	answers[strconv.Itoa(e.status())] = object{"description": "Success", "content": content}
	if e.noContent {
		answers[strconv.Itoa(http.StatusNoContent)] = object{"description": http.StatusText(http.StatusNoContent)}
	}
	for _, status := range e.problems(token) {
		answers[strconv.Itoa(status)] = object{"description": http.StatusText(status),
			"content": object{"application/problem+json": object{"schema": refusal}}}
	}
	op := object{"operationId": e.id, "summary": e.about, "responses": answers}
	if params != nil {
		op["parameters"] = params
	}
	if e.body != nil {
		schema, err := types.of(e.body)
		if err != nil {
			return nil, err
		}
		op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": schema}}}
	}
	return op, nil
}

// shown shortens client input for a message.
func shown(s string) string { return topicqueue.Clip(topicqueue.OneLine(s), 100) }

// unreachable reports whether err is a network error.
func unreachable(err error) bool {
	var network net.Error
	return errors.As(err, &network)
}
