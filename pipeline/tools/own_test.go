package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/tools"
)

const priceSchema = `{"type": "object", "properties": {"item": {"type": "string"}, "year": {"type": "integer"}},
	"required": ["item"], "additionalProperties": false}`

// pricesOf returns the tool prices with this answer.
func pricesOf(t *testing.T, timeout time.Duration, do func(ctx context.Context, arguments json.RawMessage) (tools.Output,
	error)) tools.Tool {
	t.Helper()
	tool, err := tools.NewOwn(tools.Own{Name: "prices", Description: "Prices.", Arguments: json.RawMessage(priceSchema),
		Timeout: timeout, Secrets: []string{"sk-secret"}, Do: do})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func TestOwn(t *testing.T) {
	t.Parallel()
	says := func(text string) func(context.Context, json.RawMessage) (tools.Output, error) {
		return func(context.Context, json.RawMessage) (tools.Output, error) {
			return tools.ReadOutput([]byte(text)), nil
		}
	}
	for name, tt := range map[string]struct {
		do     func(context.Context, json.RawMessage) (tools.Output, error)
		failed bool
		want   string // of the text
	}{
		"gets the arguments": {func(_ context.Context, arguments json.RawMessage) (tools.Output, error) {
			return tools.Output{Text: "got " + string(arguments)}, nil
		}, false, `got {"item":"bolt","year":2024}`},
		"secret":    {says("the key is sk-secret"), false, "the key is [redacted]"},
		"nothing":   {says(""), false, "returned nothing"},
		"not UTF-8": {says("price \xff 4"), false, "price"},
		"a page":    {says("<html><body><p>Four <b>euros</b></p></body></html>"), false, "Four euros"},
		"fails": {func(context.Context, json.RawMessage) (tools.Output, error) {
			return tools.Output{}, errors.New("no bolts for sk-secret")
		}, true, "no bolts for [redacted]"},
		"hangs": {func(ctx context.Context, _ json.RawMessage) (tools.Output, error) {
			<-ctx.Done()
			return tools.Output{}, context.Cause(ctx)
		}, true, "did not answer within 300ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timeout := time.Minute
			if strings.Contains(tt.want, "300ms") {
				timeout = 300 * time.Millisecond
			}
			r, err := pricesOf(t, timeout, tt.do).Call(t.Context(), tools.Call{Query: `{"year":2024,"item":"bolt"}`})
			if err != nil || r.Failed != tt.failed || !strings.Contains(r.Text, tt.want) || strings.Contains(r.Text,
				"sk-secret") {
				t.Errorf("%v, %v: %.500s", err, r.Failed, r.Text)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pricesOf(t, time.Minute, says("4")).Call(ctx, tools.Call{Query: "bolt"}); err == nil {
		t.Error("a cancelled call has a result")
	}
}

func TestOwnSources(t *testing.T) {
	t.Parallel()
	r, err := pricesOf(t, 0, func(context.Context, json.RawMessage) (tools.Output, error) {
		return tools.ReadOutput([]byte(`{"sources":[
			{"title":"Bolts","url":"https://shop.example/bolts","date":"2024-05-01","text":"A bolt is 4 euros."},
			{"title":"Nuts","url":"javascript:alert(1)","text":"A nut is 1 euro."},
			{"title":"Empty","url":"https://shop.example/e"}]}`)), nil
	}).Call(t.Context(), tools.Call{Query: "bolt"})
	if err != nil || len(r.Sources) != 2 || len(r.Named) != 1 {
		t.Fatalf("the sources are %+v, %v", r, err)
	}
	if s := r.Sources[0]; s.URL != "https://shop.example/bolts" || s.Document != "" || s.Date != "2024-05-01" {
		t.Errorf("the first source is %+v", s)
	}
	if s := r.Sources[1]; s.URL != "" || s.Document == "" {
		t.Errorf("the second source is %+v", s)
	}
}

func TestNewOwn(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"string"}`: "must describe an object", `{`: "not valid JSON",
		`{"type":"object","properties":{"a":{"type":"x"}}}`:                   "schema",
		`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`:  "schema",
		`{"type":"object","description":"` + strings.Repeat("x", 5000) + `"}`: "5",
	} {
		if _, err := tools.NewOwn(tools.Own{Name: "prices", Arguments: json.RawMessage(schema)}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v", schema, err)
		}
	}
	if a, b, c := tools.Key("prices", `{"a":1,"b":2}`), tools.Key("prices", `{"b":2, "a":1}`), tools.Key("prices",
		`{"a":2,"b":1}`); a != b || a == c {
		t.Errorf("keys %q %q %q", a, b, c)
	}
}
