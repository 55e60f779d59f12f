package tools

import (
	"encoding/json"
)

// Structured is a Tool whose query is a JSON object. Tools of MCP servers are.
type Structured interface {
	Tool
	Schema() json.RawMessage // JSON schema of the object
}

// SchemaOf returns the JSON schema of a tool whose query is an object, or nil for a tool whose query is text.
func SchemaOf(t Tool) json.RawMessage {
	if s, ok := t.(Structured); ok {
		return s.Schema()
	}
	return nil
}

// QueryOf converts the arguments that a model gave to a tool with a schema to the query of the call. The query is the
// object itself. For a model that can only give a query, it is the string in the object's only field "query", unless
// the schema has that property.
func QueryOf(t Tool, arguments string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &object) != nil || len(object) != 1 || object["query"] == nil {
		return arguments
	}
	var schema struct{ Properties map[string]any }
	var inner string
	if json.Unmarshal(SchemaOf(t), &schema) != nil || schema.Properties["query"] != nil ||
		json.Unmarshal(object["query"], &inner) != nil {
		return arguments
	}
	return inner
}

// Verbatim reports whether every character of a tool's query counts, as in a program, an address or an object.
func (s Set) Verbatim(name string) bool {
	if builtInCalled(name).verbatim {
		return true
	}
	t, ok := s.Lookup(name)
	return ok && SchemaOf(t) != nil
}
