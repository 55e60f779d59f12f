package fetch_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"nightdesk/pipeline/tools/fetch"
)

// loopback allows the test servers.
var loopback = []string{"127.0.0.0/8"}

// serve starts a server that ends with the test.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

// client returns a client that can reach the test servers.
func client(t *testing.T, s fetch.Settings) *fetch.Client {
	t.Helper()
	s.Allow = append(s.Allow, loopback...)
	c := fetch.New(s)
	t.Cleanup(c.Close)
	return c
}

func TestDo(t *testing.T) {
	t.Parallel()
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "Application/JSON; charset=UTF-8")
		w.Header().Set("X-Seen", strings.Join([]string{r.Method, r.UserAgent(), r.Header.Get("X-Key"), r.Header.Get("Accept"), string(body)}, "|"))
		_, _ = io.WriteString(w, `{"ok":true}`)
	})
	got, err := client(t, fetch.Settings{}).Do(t.Context(), fetch.Request{
		Method: http.MethodPost, URL: " " + address + "/search?q=1#top", Header: http.Header{"X-Key": {"k"}}, Body: []byte("ask"),
		Accept: []string{"application/json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != 200 || string(got.Body) != `{"ok":true}` || got.Type != "application/json" || got.Charset != "utf-8" ||
		got.URL != address+"/search?q=1" || got.Header.Get("X-Seen") != "POST|nightdesk/1.0 (research; respects robots.txt)|k|application/json|ask" {
		t.Errorf("%+v", got)
	}
}
