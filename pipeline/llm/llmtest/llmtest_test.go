package llmtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/prompts"
)

func TestGenerateIsValidAndDeterministic(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]string{
		"decide":  string(prompts.Decide("en", prompts.DecideData{}).Schema),
		"note":    string(prompts.Note("en", prompts.NoteData{}).Schema),
		"outline": string(prompts.Outline("zh", prompts.OutlineData{}).Schema),
		"bounds": `{"type":"object","properties":{"a":{"type":"integer","minimum":5,"maximum":6},"b":{"type":"number","minimum":0,"maximum":1},
			"c":{"type":"string","minLength":40,"maxLength":45},"d":{"type":"array","minItems":5,"items":{"enum":["x",7,null]}},
			"e":{"type":["string","null"]},"f":{"const":{"k":1}},"g":{"anyOf":[{"type":"boolean"},{"type":"null"}]},"h":{"$ref":"#/$defs/h"},"i":{"type":"array","maxItems":0}},
			"required":["a","b","c","d","e","f","g","h","i"],"additionalProperties":false,"$defs":{"h":{"type":"number","maximum":-4}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
			if err != nil {
				t.Fatal(err)
			}
			compiler := jsonschema.NewCompiler()
			if err := compiler.AddResource("s.json", doc); err != nil {
				t.Fatal(err)
			}
			compiled, err := compiler.Compile("s.json")
			if err != nil {
				t.Fatal(err)
			}
			distinct := map[string]bool{}
			for seed := range 50 {
				text, err := llmtest.Generate(json.RawMessage(schema), fmt.Sprint(seed))
				if err != nil {
					t.Fatal(err)
				}
				value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				if err := compiled.Validate(value); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				again, _ := llmtest.Generate(json.RawMessage(schema), fmt.Sprint(seed))
				if !bytes.Equal(text, again) {
					t.Fatalf("seed %d gives %s and %s", seed, text, again)
				}
				distinct[string(text)] = true
			}
			if len(distinct) < 10 {
				t.Errorf("only %d different answers", len(distinct))
			}
		})
	}
	for _, schema := range []string{`[]`, `{"$ref":"#"}`, `{"$ref":"#/$defs/no"}`, `{"$ref":"http://x/y"}`, `{"type":"object","properties":[1]}`} {
		if _, err := llmtest.Generate(json.RawMessage(schema), ""); err == nil {
			t.Errorf("schema %s: no error", schema)
		}
	}
}

// failures is a testing.TB that counts instead of failing.
type failures struct {
	testing.TB
	count   int
	cleanup func()
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.count++ }
func (f *failures) Cleanup(fn func())     { f.cleanup = fn }

func TestScriptCountsCalls(t *testing.T) {
	t.Parallel()
	req := llm.Request{Prompt: prompts.Prompt{Name: "note"}}
	for name, tc := range map[string]struct{ replies, calls, failures int }{
		"exact": {2, 2, 0}, "too few calls": {2, 1, 1}, "too many calls": {1, 2, 1},
	} {
		tb := &failures{TB: t}
		script := llmtest.NewScript(tb, map[string][]llmtest.Reply{"note": make([]llmtest.Reply, tc.replies)})
		for i := range tc.calls {
			if _, err := script.Generate(t.Context(), req); (err != nil) != (i >= tc.replies) || err != nil && !errors.Is(err, llm.ErrPermanent) {
				t.Errorf("%s: call %d: %v", name, i, err)
			}
		}
		tb.cleanup()
		if tb.count != tc.failures || len(script.Calls()) != tc.calls {
			t.Errorf("%s: %d failures, %d calls", name, tb.count, len(script.Calls()))
		}
	}
}

func FuzzGenerate(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#"}}}}`), "seed")
	f.Add([]byte(`{"type":"integer","minimum":-1e300,"maximum":1e300}`), "")
	f.Fuzz(func(t *testing.T, schema []byte, seed string) {
		if len(schema) > 2000 || bytes.Contains(schema, []byte("minItems")) || bytes.Contains(schema, []byte("minLength")) || bytes.Count(schema, []byte("$ref")) > 1 {
			t.Skip() // sizes that the schema itself asks for
		}
		text, err := llmtest.Generate(schema, seed)
		if err == nil && !json.Valid(text) {
			t.Fatalf("schema %q gives %q", schema, text)
		}
	})
}
