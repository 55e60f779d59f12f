package websearch_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/websearch"
)

// secretKey must not occur in any error or log.
const secretKey = "k3y-that-nobody-may-see"

// freely is a pace without waiting.
type freely struct{}

func (freely) Wait(context.Context, string, time.Duration) error { return nil }

// serve starts a server that ends with the test.
func serve(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

// outside returns a client that can reach the test servers.
func outside(t testing.TB, timeout time.Duration) *fetch.Client {
	t.Helper()
	c := fetch.New(fetch.Settings{Allow: []string{"127.0.0.1"}, Timeout: timeout})
	t.Cleanup(c.Close)
	return c
}

// provider returns a provider that queries a test server.
func provider(t testing.TB, name string, handler http.HandlerFunc) *websearch.Provider {
	t.Helper()
	return build(t, websearch.Settings{Name: name, BaseURL: serve(t, handler), Key: secretKey, Outside: outside(t, time.Minute), Pace: freely{}})
}

func build(t testing.TB, s websearch.Settings) *websearch.Provider {
	t.Helper()
	p, err := websearch.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fixture returns the documented answer of a provider.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// answers returns a server with one answer.
func answers(status int, kind string, body []byte, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}
}

// nothing holds each provider's answer without results.
var nothing = map[string]string{
	"searxng": `{"query":"x","number_of_results":0,"results":[],"answers":[],"corrections":[],"infoboxes":[],"suggestions":[],"unresponsive_engines":[]}`,
	"tavily":  `{"query":"x","answer":null,"images":[],"results":[],"response_time":0.5}`,
	"brave":   `{"type":"search","query":{"original":"x","more_results_available":false}}`,
	"serper":  `{"searchParameters":{"q":"x","type":"search"},"organic":[],"credits":1}`,
	"exa":     `{"requestId":"1","results":[],"costDollars":{"total":0.005}}`,
}

// refusal returns the error of a search, and checks that it does not contain the secret.
func refusal(t testing.TB, err error) *websearch.Error {
	t.Helper()
	var e *websearch.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T: %v", err, err)
	}
	if strings.Contains(err.Error()+e.Advice+e.Words(), secretKey) {
		t.Errorf("the key is in %q, %q", err, e.Advice)
	}
	return e
}

// says200 returns a fetcher that always returns the same body.
func says200(body []byte) fetch.Doer { return bodyOnly(body) }

type bodyOnly []byte

// Do implements fetch.Doer.
func (b bodyOnly) Do(context.Context, fetch.Request) (fetch.Response, error) {
	return fetch.Response{Status: http.StatusOK, Body: b}, nil
}
