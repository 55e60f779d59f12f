package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/topicqueue"
)

// schemas maps type names to their schemas in the document.
type schemas struct {
	named map[string]*jsonschema.Schema
}

// of returns a reference to the schema of a type.
func (s *schemas) of(t reflect.Type) (*jsonschema.Schema, error) {
	name := t.Name()
	if name == "" { // a slice
		item, err := s.of(t.Elem())
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
		reflect.TypeFor[desk.RetryWhat]():  {Type: "string", Enum: desk.RetryWhats},
	}})
}

// bodySchema returns the schema of the body: the fields of a request that are not parameters.
func bodySchema(in reflect.Type, params []param) *jsonschema.Schema {
	schema, err := schemaOf(in)
	if err != nil {
		panic(err) // depends only on the type
	}
	for _, p := range params {
		delete(schema.Properties, p.field)
		schema.Required = slices.DeleteFunc(schema.Required, func(name string) bool { return name == p.field })
		schema.PropertyOrder = slices.DeleteFunc(schema.PropertyOrder, func(name string) bool { return name == p.field })
	}
	return schema
}

type object map[string]any

// document returns the OpenAPI document of all endpoints.
func document(all []endpoint, token bool) ([]byte, error) {
	types := &schemas{map[string]*jsonschema.Schema{}}
	refusal, err := types.of(reflect.TypeFor[Problem]())
	if err != nil {
		return nil, err
	}
	paths := map[string]object{}
	for _, e := range all {
		op, err := e.operation(types, refusal)
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

func (e endpoint) operation(types *schemas, refusal *jsonschema.Schema) (object, error) {
	var params []object
	for _, p := range e.params {
		params = append(params, object{"name": p.name, "in": p.in, "description": p.about,
			"required": p.required || p.in == inPath, "schema": p.rule.Schema})
	}
	answers, content := object{}, object{}
	if e.kinds == nil {
		schema, err := types.of(e.out)
		if err != nil {
			return nil, err
		}
		content["application/json"] = object{"schema": schema}
	}
	for _, kind := range e.kinds {
		content[kind] = object{"schema": object{}}
	}
	answers["200"] = object{"description": "Success", "content": content}
	if e.noContent {
		answers[strconv.Itoa(http.StatusNoContent)] = object{"description": http.StatusText(http.StatusNoContent)}
	}
	answers["default"] = object{"description": "Nothing was done",
		"content": object{"application/problem+json": object{"schema": refusal}}}
	op := object{"operationId": e.id, "summary": e.about, "responses": answers}
	if params != nil {
		op["parameters"] = params
	}
	if e.method == http.MethodPost {
		op["requestBody"] = object{"required": true,
			"content": object{"application/json": object{"schema": e.body.Schema}}}
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
