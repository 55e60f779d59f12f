// Package prompts holds all texts sent to models: templates in English and Chinese with one typed data struct each,
// and a JSON schema with an answer struct for each structured answer.
//
// The package is independent of models and of the pipeline. A function such as Decide takes a language and typed data
// and returns a Prompt. Quote marks retrieved text as data, with delimiters that the text cannot close.
package prompts

import "encoding/json"

// Prompt is a rendered question to a model.
type Prompt struct {
	Name   string // decompose, decide, note, section, ...: identifies the step in usage records and golden files
	System string // role and rules; identical for all calls of this name and language, for prefix caching
	User   string // the data, stable parts first
	// Schema is the JSON schema of the answer. It is closed and requires every key; nil = free text. It is sent
	// separately; System shows the format of the answer by an example.
	Schema json.RawMessage
	Think  bool // a non-reasoning model should reason in its text before it answers

	// MaxTokens is several times the length of a good answer, so that a runaway answer is cheap. It excludes
	// reasoning tokens; 0 = no limit specific to the prompt.
	MaxTokens int

	// Bounds narrow the schema for servers with constrained decoding. They are not part of the schema, because some
	// strict servers reject them. An answer that violates them is still valid; the caller decides what to do with it.
	Bounds []Bound
}

// Bound limits one property of a schema.
type Bound struct {
	Property    string   // name of the property, unique within the schema
	Least, Most int      // number of list items; 0 = no limit
	OneOf       []string // allowed values of a string, or of each string of a list; empty = any
}
