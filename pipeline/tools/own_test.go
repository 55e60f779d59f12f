package tools_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/fetch"
)

const priceSchema = `{"type": "object", "properties": {"item": {"type": "string"}, "year": {"type": "integer"}},
	"required": ["item"], "additionalProperties": false}`

// program returns a tool that is a shell program.
func program(t *testing.T, script string, timeout time.Duration) tools.Tool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prices")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	tool, err := tools.NewOwn(tools.Own{Name: "prices", Description: "Prices.", Arguments: json.RawMessage(priceSchema),
		Timeout: timeout, Secrets: []string{"sk-secret"}, Do: tools.Command([]string{path}, []string{"TOKEN=sk-secret"})})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		failed bool
		want   string // of the text
	}{
		"arguments stand on standard input": {"cat", false, `{"item":"bolt","year":2024}`},
		"only its own environment":          {"env; echo end", false, "TOKEN=[redacted]"},
		"fails": {"echo one >&2; echo no bolts for $TOKEN >&2; exit 4", true,
			"exit status 4: no bolts for [redacted]"},
		"hangs, with a child": {"sleep 600 & sleep 600", true, "did not answer within 300ms"},
		"10 MB": {"head -c 10485760 /dev/zero | tr '\\0' x", true,
			"its answer has more than 8 MB"},
		"nothing":   {"true", false, "returned nothing"},
		"not UTF-8": {"printf 'price \\377 4'", false, "price"},
		"a page": {"echo '<html><body><p>Four <b>euros</b></p></body></html>'", false,
			"Four euros"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timeout := time.Minute
			if strings.Contains(tt.want, "300ms") {
				timeout = 300 * time.Millisecond
			}
			r, err := program(t, tt.script, timeout).Call(t.Context(), tools.Call{Query: `{"year":2024,"item":"bolt"}`})
			if err != nil || r.Failed != tt.failed || !strings.Contains(r.Text, tt.want) || strings.Contains(r.Text,
				"sk-secret") {
				t.Errorf("%v, %v: %.500s", err, r.Failed, r.Text)
			}
		})
	}
}

// TestCommandCancelled: the end of the caller's context stops the call and is returned.
func TestCommandCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if _, err := program(t, "sleep 600", time.Minute).Call(ctx, tools.Call{Query: "bolt"}); err == nil {
		t.Error("a cancelled call has a result")
	}
}

func TestService(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var args struct{ Item string }
		if err := json.NewDecoder(r.Body).Decode(&args); err != nil || r.Header.Get("X-Key") != "sk-secret" ||
			r.Method != "POST" {
			http.Error(w, "no key "+r.Header.Get("X-Key"), http.StatusForbidden)
			return
		}
		switch args.Item {
		case "many":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"sources":[
				{"title":"Bolts","url":"https://shop.example/bolts","date":"2024-05-01","text":"A bolt is 4 euros."},
				{"title":"Nuts","url":"javascript:alert(1)","text":"A nut is 1 euro."},
				{"title":"Empty","url":"https://shop.example/e"}]}`))
		case "elsewhere":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusTemporaryRedirect)
		case "much":
			_, _ = w.Write(make([]byte, 10<<20))
		default:
			http.Error(w, "no such item for "+r.Header.Get("X-Key"), http.StatusNotFound)
		}
	}))
	defer service.Close()
	client := fetch.New(fetch.Settings{Allow: []string{strings.TrimPrefix(service.URL, "http://")}})
	defer client.Close()
	tool, err := tools.NewOwn(tools.Own{Name: "prices", Description: "Prices.", Arguments: json.RawMessage(priceSchema),
		Secrets: []string{"sk-secret"}, Do: tools.Service(client, service.URL+"/prices",
			http.Header{"X-Key": {"sk-secret"}})})
	if err != nil {
		t.Fatal(err)
	}
	call := func(item string) tools.Result {
		r, err := tool.Call(t.Context(), tools.Call{Query: item})
		if err != nil || strings.Contains(r.Text, "sk-secret") {
			t.Errorf("%s: %v %s", item, err, r.Text)
		}
		return r
	}
	r := call("many")
	if len(r.Sources) != 2 || len(r.Named) != 1 {
		t.Fatalf("the sources are %+v", r)
	}
	if s := r.Sources[0]; s.URL != "https://shop.example/bolts" || s.Document != "" || s.Date != "2024-05-01" {
		t.Errorf("the first source is %+v", s)
	}
	if s := r.Sources[1]; s.URL != "" || s.Document == "" {
		t.Errorf("the second source is %+v", s)
	}
	for item, want := range map[string]string{"elsewhere": "307", "much": "prices: ", "screw": "404"} {
		if r := call(item); !r.Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%s: %v %s", item, r.Failed, r.Text)
		}
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
