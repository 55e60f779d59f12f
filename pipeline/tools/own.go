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

// Verbatim reports whether every character of a tool's query counts, as in a program, an address or an object.
func (s Set) Verbatim(name string) bool {
	if builtInCalled(name).verbatim {
		return true
	}
	t, ok := s.Lookup(name)
	return ok && SchemaOf(t) != nil
}
