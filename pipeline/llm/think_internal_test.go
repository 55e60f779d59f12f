package llm

import (
	"encoding/json"
	"strings"
	"testing"

	"nightdesk/prompts"
)

// The think field is the first property and a required one. Schemas of another form stay as they are.
func TestWithThink(t *testing.T) {
	t.Parallel()
	question := prompts.Rephrase("en", prompts.RephraseData{Topic: "tides"})
	p := withThink(question)
	if !json.Valid(p.Schema) || !strings.Contains(string(p.Schema), `"properties":{"think":{`) ||
		!strings.Contains(string(p.Schema), `"required":["think",`) || p.System == question.System {
		t.Errorf("%s", p.Schema)
	}
	for _, schema := range []string{string(p.Schema), `{"type":"object"}`, `{"required":["a"],"properties":{"a":{}}}`, ""} {
		if got := withThink(prompts.Prompt{Schema: json.RawMessage(schema)}); string(got.Schema) != schema {
			t.Errorf("%s became %s", schema, got.Schema)
		}
	}
}
