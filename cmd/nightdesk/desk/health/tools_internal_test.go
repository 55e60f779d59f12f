package health

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"nightdesk/config"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/papers"
)

// Doctor tells which index answers, and what to do about the others.
func TestDoctorAsksIndexes(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/crossref":
			fmt.Fprint(w, `{"message":{"items":[{"type":"report","title":["On electrons"],"DOI":"10.1234/x"}]}}`)
		case "/europepmc":
			fmt.Fprint(w, `{"resultList":{"result":[]}}`)
		case "/openalex":
			w.WriteHeader(http.StatusUnauthorized)
		case "/semanticscholar":
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer s.Close()
	client := fetch.New(fetch.Settings{Allow: []string{"127.0.0.1"}})
	defer client.Close()
	settings := papers.Settings{Providers: papers.Names(), OpenAlexKey: "s3cret-key", Outside: client, Pace: fetch.NewLocalPace(), Addresses: map[string]string{}}
	for _, name := range papers.Names() {
		settings.Addresses[name] = s.URL + "/" + name
	}
	settings.Addresses[papers.ArXiv] = "http://127.0.0.1:1/"
	index, err := papers.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct{ result, text, hint string }{
		{"failed", "ask arXiv: ", "way to the internet"},
		{"ok", "Crossref answers in ", ""},
		{"note", "Europe PMC answers, but has no paper", ""},
		{"failed", "ask OpenAlex: ", "Check OPENALEX_API_KEY"},
		{"failed", "ask Semantic Scholar: ", "Try again later"},
	}
	got := made(func(r report) { askIndexes(t.Context(), r, index) })
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, c := range got {
		if c.Result != want[i].result || !strings.HasPrefix(c.Text, want[i].text) || !strings.Contains(c.Hint, want[i].hint) ||
			strings.Contains(c.Text, "s3cret") {
			t.Errorf("%+v, want %+v", c, want[i])
		}
	}
}

// The settings name indexes that there are.
func TestIndexNames(t *testing.T) {
	t.Parallel()
	all := config.PaperSearch{OpenAlexKey: config.NewSecret("k"), SemanticScholarKey: config.NewSecret("k")}.Names()
	if there := papers.Names(); !slices.Equal(all, there) {
		t.Errorf("there are %s, the settings name %s", there, all)
	}
	if got := made(func(r report) { _ = Checker{}.papers(t.Context(), r) }); got != nil {
		t.Errorf("switched off: %+v", got)
	}
}
