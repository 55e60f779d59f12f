package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"nightdesk/pipeline/tools"
)

const priceSchema = `{"type": "object", "properties": {"item": {"type": "string"}, "year": {"type": "integer"}},
	"required": ["item"], "additionalProperties": false}`

func prices(t *testing.T, schema string) (tools.Tool, error) {
	t.Helper()
	return newTool(New(Settings{Secrets: []string{"sk-secret"}}), "prices",
		&sdk.Tool{Description: "Prices.", InputSchema: json.RawMessage(schema)})
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	made, err := prices(t, priceSchema)
	if err != nil {
		t.Fatal(err)
	}
	arguments, problem := made.(*tool).arguments(`{"year":2024,"item":"bolt"}`)
	if problem != "" {
		t.Fatal(problem)
	}
	answer := func(text string) tools.Result {
		found, text := content(&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}})
		return made.(*tool).result(arguments, found, text)
	}
	for text, want := range map[string]string{
		"the key is sk-secret": "the key is [redacted]",
		"":                     "returned nothing",
		"price \xff 4":         "price",
		"<html><body><p>Four <b>euros</b></p></body></html>": "Four euros",
	} {
		if r := answer(text); r.Failed || !strings.Contains(r.Text, want) || strings.Contains(r.Text, "sk-secret") {
			t.Errorf("%q: %.500s", text, r.Text)
		}
	}
	r := answer(`{"sources":[
		{"title":"Bolts","url":"https://shop.example/bolts","date":"2024-05-01","text":"A bolt is 4 euros."},
		{"title":"Nuts","url":"javascript:alert(1)","text":"A nut is 1 euro."},
		{"title":"Empty","url":"https://shop.example/e"}]}`)
	if len(r.Sources) != 2 || len(r.Named) != 1 {
		t.Fatalf("the sources are %+v", r)
	}
	if s := r.Sources[0]; s.URL != "https://shop.example/bolts" || s.Document != "" || s.Date != "2024-05-01" {
		t.Errorf("the first source is %+v", s)
	}
	if s := r.Sources[1]; s.URL != "" || s.Document == "" {
		t.Errorf("the second source is %+v", s)
	}
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"string"}`: "must describe an object",
		`{"type":"object","properties":{"a":{"type":"x"}}}`:                   "schema",
		`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`:  "schema",
		`{"type":"object","description":"` + strings.Repeat("x", 5000) + `"}`: "5",
	} {
		if _, err := prices(t, schema); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v", schema, err)
		}
	}
	if a, b, c := tools.Key("prices", `{"a":1,"b":2}`), tools.Key("prices", `{"b":2, "a":1}`), tools.Key("prices",
		`{"a":2,"b":1}`); a != b || a == c {
		t.Errorf("keys %q %q %q", a, b, c)
	}
}
