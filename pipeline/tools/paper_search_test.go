package tools_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/papers"
	"nightdesk/topicqueue"
)

// noWait is a pace without waiting.
type noWait struct{}

func (noWait) Wait(ctx context.Context, _ string, _ time.Duration) error { return ctx.Err() }

// paperFiles are documented answers of the providers.
var paperFiles = map[string]string{
	papers.ArXiv: "arxiv.xml", papers.Crossref: "crossref.json", papers.EuropePMC: "europepmc.json",
	papers.OpenAlex: "openalex.json", papers.SemanticScholar: "semanticscholar.json",
}

// paperSearch returns the tool with one server for all providers. status: the status that a provider returns instead of
// its file; 0: an answer without papers.
func paperSearch(t *testing.T, limit int, status map[string]int) tools.Tool {
	t.Helper()
	empty := map[string]string{
		papers.ArXiv: `<feed xmlns="http://www.w3.org/2005/Atom"></feed>`, papers.Crossref: `{"message":{"items":[]}}`,
		papers.EuropePMC: `{"resultList":{"result":[]}}`, papers.OpenAlex: `{"results":[]}`, papers.SemanticScholar: `{"total":0}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		w.Header().Set("Content-Type", "application/json")
		if name == papers.ArXiv {
			w.Header().Set("Content-Type", "application/atom+xml")
		}
		switch code, other := status[name]; {
		case !other:
			body, err := os.ReadFile(filepath.Join("papers", "testdata", paperFiles[name]))
			if err != nil {
				t.Error(err)
			}
			_, _ = w.Write(body)
		case code == 0:
			fmt.Fprint(w, empty[name])
		case code == 200:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<h1>Maintenance</h1>")
		default:
			w.WriteHeader(code)
		}
	}))
	t.Cleanup(s.Close)
	client := fetch.New(fetch.Settings{Allow: []string{"127.0.0.1"}})
	t.Cleanup(client.Close)
	settings := papers.Settings{Providers: papers.Names(), Outside: client, Pace: noWait{}, Addresses: map[string]string{}, OpenAlexKey: "s3cret-key"}
	for _, name := range papers.Names() {
		settings.Addresses[name] = s.URL + "/" + name
	}
	index, err := papers.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	return tools.NewPaperSearch(index, limit)
}

func TestPaperSearch(t *testing.T) {
	t.Parallel()
	tool := paperSearch(t, 6, nil)
	if d := tool.Description(); tool.Name() != "paper_search" || len(d) < 80 || len(d) > 1000 || !strings.Contains(d, "Query:") || strings.TrimSpace(d) != d {
		t.Errorf("%s: %q", tool.Name(), d)
	}
	result, err := tool.Call(t.Context(), tools.Call{Query: `"tidal turbines" wake 2019..2024`})
	if err != nil || result.Failed {
		t.Fatalf("%+v, %v", result, err)
	}
	golden := filepath.Join("testdata", "paper_search.golden.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(result.Text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), result.Text+"\n"); diff != "" {
		t.Error(diff)
	}
	if len(result.Sources) != 6 {
		t.Fatalf("%d sources", len(result.Sources))
	}
	for _, s := range result.Sources {
		if s.Kind != topicqueue.SourcePaper || s.Hash != topicqueue.TextHash(s.Text) || s.ID != topicqueue.SourceID(s) || s.RetrievedAt.IsZero() ||
			s.URL == "" || s.Text == "" || !strings.Contains(result.Text, s.Text) || strings.Contains(s.Text, "DOI") {
			t.Errorf("%+v", s)
		}
	}
	first := result.Sources[0]
	if first.Title != "Wake recovery behind rows of tidal turbines" || first.DOI != "10.1016/j.renene.2022.01.077" || first.URL != "https://doi.org/10.1016/j.renene.2022.01.077" ||
		first.Publisher != "Renewable Energy" || first.Date != "2022-03-01" || len(first.Authors) != 3 {
		t.Errorf("%+v", first)
	}
	if last := result.Sources[5]; !strings.HasPrefix(last.Title, "RETRACTED: ") {
		t.Errorf("%+v", last)
	}
	if few, err := paperSearch(t, 2, nil).Call(t.Context(), tools.Call{Query: "tidal turbines"}); err != nil || len(few.Sources) != 2 || strings.Contains(few.Text, "RETRACTED: Resonant") || len(few.Named) != len(result.Named)+len(result.Sources)-2 {
		t.Errorf("limit 2: %d sources, %d named, %v", len(few.Sources), len(few.Named), err)
	}
}

func TestPaperSearchAbsence(t *testing.T) {
	t.Parallel()
	all := func(code int) map[string]int {
		m := map[string]int{}
		for _, name := range papers.Names() {
			m[name] = code
		}
		return m
	}
	for _, tc := range []struct {
		name, query string
		status      map[string]int
		failed      bool
		sources     bool
		want        []string
	}{
		{"no keywords", `"" ?`, nil, true, false, []string{"needs keywords"}},
		{"nothing found", "tidal turbines", all(0), false, false, []string{"no paper for", "fewer or more general keywords"}},
		{"nothing found by those that answer", "tidal", map[string]int{
			papers.ArXiv: 0, papers.Crossref: 0, papers.EuropePMC: 0, papers.OpenAlex: 429, papers.SemanticScholar: 502,
		}, false, false, []string{"arXiv, Crossref, Europe PMC: no paper", "OpenAlex (it has been asked too often, 429)", "Semantic Scholar (it has a failure, 502)"}},
		{"one answers", "tidal", map[string]int{
			papers.ArXiv: 200, papers.EuropePMC: 401, papers.OpenAlex: 402, papers.SemanticScholar: 403,
		}, false, true, []string{"Papers from Crossref.", "arXiv (its content is of type", "only for subscribers, 401)",
			"only for subscribers, 402)", "only for subscribers, 403)", "no abstract of these", "Tidal Channels: A Survey"}},
		{"none answers", "tidal", all(500), true, false, []string{"could not search", "Crossref (it has a failure, 500)", "another tool"}},
		{"all refuse the query", "tidal", all(400), true, false, []string{"arXiv (it answers 400)"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			result, err := paperSearch(t, 6, tc.status).Call(t.Context(), tools.Call{Query: tc.query})
			if err != nil || result.Failed != tc.failed || (len(result.Sources) > 0) != tc.sources || strings.Contains(result.Text, "s3cret") {
				t.Errorf("%+v, %v", result, err)
			}
			for _, want := range tc.want {
				if !strings.Contains(result.Text, want) {
					t.Errorf("%q lacks %q", result.Text, want)
				}
			}
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the desk closes")
	cancel(why)
	if _, err := paperSearch(t, 6, nil).Call(ctx, tools.Call{Query: "tides"}); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
}

// index returns fixed answers without a server.
type index []papers.Answer

func (i index) Ask(context.Context, papers.Query) []papers.Answer { return i }

func TestPaperSearchWords(t *testing.T) {
	t.Parallel()
	var authors []string
	for i := range 12 {
		authors = append(authors, fmt.Sprintf("Author %d", i))
	}
	result, err := tools.NewPaperSearch(index{
		{Provider: papers.ArXiv, Err: fmt.Errorf("ask: %w: %w", papers.ErrTurn, context.DeadlineExceeded)},
		{Provider: papers.EuropePMC, Err: context.DeadlineExceeded},
		{Provider: papers.OpenAlex, Err: papers.ErrQuery},
		{Provider: papers.SemanticScholar, Err: errors.New("connection refused")},
		{Provider: papers.Crossref, Papers: []papers.Paper{
			{Title: "Many hands", Authors: authors, Abstract: "They all say this.", URL: "https://a.example/1", Date: "2020-05"},
			{Title: "Nowhere", Abstract: "It cannot be found again."},
		}},
	}, 6).Call(t.Context(), tools.Call{Query: "hands"})
	if err != nil || result.Failed || len(result.Sources) != 1 || strings.Contains(result.Text, "Nowhere") {
		t.Fatalf("%+v, %v", result, err)
	}
	for _, want := range []string{"arXiv (as many requests as it allows", "Europe PMC (it did not answer in time)", "OpenAlex (it does not understand", "Semantic Scholar (it cannot be reached"} {
		if !strings.Contains(result.Text, want) {
			t.Errorf("%q lacks %q", result.Text, want)
		}
	}
	if s := result.Sources[0]; s.Date != "2020-05" || len(s.Authors) != 10 || s.Authors[9] != "et al." {
		t.Errorf("%+v", s)
	}
}
