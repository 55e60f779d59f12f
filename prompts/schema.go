package prompts

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed schemas
var schemaFiles embed.FS

var schemas = readSchemas()

// schemaOf returns the schema of a structured answer as compact JSON, with its keys in file order. The caller may
// modify it.
func schemaOf(name string) json.RawMessage { return bytes.Clone(schemas[name]) }

// readSchemas reads all schemas. They use only keywords that strict servers accept; limits on numbers and lengths are
// in descriptions.
func readSchemas() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, name := range []string{"clarify", "rephrase", "decompose", "decide", "note", "review", "outline",
		"renew", "judge", "look_up", "route", "satisfied", "narrate"} {
		text, err := schemaFiles.ReadFile("schemas/" + name + ".json")
		if err != nil {
			panic(err) // the file is part of the program
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil {
			panic(fmt.Sprintf("schema %s: %v", name, err))
		}
		all[name] = compact.Bytes()
	}
	return all
}
