// Package prompts holds every text that is sent to a model: templates in English and Chinese, one typed data struct
// each, and one JSON schema with one answer struct per structured answer.
//
// It knows nothing of models or of the pipeline: a function such as Decide takes a language and typed data and returns
// a Prompt. Text that was retrieved is quoted as data by Quote, with delimiters that it cannot close.
package prompts

import "encoding/json"

// Prompt is one rendered question to a model.
type Prompt struct {
	Name   string // decompose, decide, note, section, ...: names the step in usage records and goldens
	System string // role and rules; the same for all calls of this name and language, so that prefix caches hit
	User   string // the data, stable parts first
	// Schema is the JSON schema of the answer, closed and with every key required; nil = free text. It is sent beside
	// the question; System shows the form of the answer by an example.
	Schema json.RawMessage
	Think  bool // a model that does not think by itself should think aloud before it answers

	// MaxTokens is several times what a good answer takes, so that a model that runs away is cheap. It counts the answer
	// and not what a model thinks before it; 0 = the question has no limit of its own.
	MaxTokens int

	// Bounds narrow the schema for servers whose decoding can hold a model to them. They are not part of the schema,
	// because some strict servers refuse them; an answer that breaks them is valid, and its user judges it.
	Bounds []Bound
}

// Bound limits one property of a schema.
type Bound struct {
	Property    string   // its name, unique within the schema
	Least, Most int      // items of a list; 0 = no limit
	OneOf       []string // the values that a string, or each string of a list, can have; empty = any
}
