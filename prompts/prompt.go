// Package prompts holds every text that is sent to a model: templates in English and Chinese, one typed data struct
// each, and one JSON schema with one answer struct per structured answer.
//
// It knows nothing of models or of the pipeline: a function such as Decide takes a language and typed data and returns
// a Prompt. Text that was retrieved is quoted as data by Quote, with delimiters that it cannot close.
package prompts

import "encoding/json"

// Prompt is one rendered question to a model.
type Prompt struct {
	Name   string          // decompose, decide, note, section, ...: names the step in usage records and goldens
	System string          // role and rules; the same for all calls of this name and language, so that prefix caches hit
	User   string          // the data, stable parts first
	Schema json.RawMessage // JSON schema of the answer, closed and with every key required; nil = free text
}
