package tools

import (
	"encoding/json"
)

// Structured is a Tool whose query is a JSON object. Tools of MCP servers are.
type Structured interface {
	Tool
	Schema() json.RawMessage // JSON schema of the object
}

// Verbatim reports whether every character of a tool's query counts, as in a program, an address or an object.
func (s Set) Verbatim(name string) bool {
	if builtInCalled(name).verbatim {
		return true
	}
	t, _ := s.Lookup(name)
	_, structured := t.(Structured)
	return structured
}
