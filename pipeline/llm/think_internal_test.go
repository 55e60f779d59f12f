package llm

import (
	"encoding/json"
	"testing"
)

func FuzzInsertThink(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array"}},"required":["a","b"]}`))
	f.Add([]byte(`{"properties":{"a":{}},"required":["a"],"type":"object"}`))
	f.Fuzz(func(t *testing.T, schema []byte) {
		out, ok := insertThink(schema)
		if ok && !json.Valid(out) {
			t.Fatalf("%q became %q", schema, out)
		}
	})
}
