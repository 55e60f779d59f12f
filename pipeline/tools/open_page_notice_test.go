package tools_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/fetch"
)

// TestNoticesAreNoPages: a notice with status 200 is not treated as the page.
func TestNoticesAreNoPages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("<p>The harbour of Alder has 12 quays, and ships call at each of them on most days.</p>", 30)
	for name, tt := range map[string]struct {
		page         string
		failed, gone bool
	}{
		"a form to sign in":       {"<title>Sign in</title><p>Please sign in to go on reading.</p><form><input name=p type='password'></form>", true, false},
		"a page with such a form": {"<title>Alder</title><form><input type=password></form>" + long, false, false},
		"not found":               {"<title>Page not found</title><p>Sorry, the page that you are looking for does not exist.</p>", true, true},
		"404":                     {"<title>404 - Alder</title><p>Nothing here, go home.</p>", true, true},
		"about that message":      {"<title>Page not found: a history of the message</title><article>" + long + "</article>", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_, _ = fmt.Fprint(w, "<!doctype html><html><head></head><body>"+tt.page+"</body></html>")
			}))
			t.Cleanup(server.Close)
			open := tools.NewOpenPage(fetch.New(fetch.Settings{Allow: []string{"127.0.0.0/8"}, PerHost: 1}))
			r, err := open.Call(t.Context(), tools.Call{Query: server.URL})
			if err != nil || r.Failed != tt.failed || r.Gone != tt.gone {
				t.Errorf("%v, failed %v, gone %v: %s", err, r.Failed, r.Gone, r.Text)
			}
		})
	}
}
