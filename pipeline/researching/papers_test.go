package researching_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/papers"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

type noWait struct{}

func (noWait) Wait(ctx context.Context, _ string, _ time.Duration) error { return ctx.Err() }

// TestResearchPapers: a block searches papers on servers with the indexes' formats, one of which is down. All claims
// quote abstracts, not our own text about a paper.
func TestResearchPapers(t *testing.T) {
	t.Parallel()
	files := map[string]string{papers.ArXiv: "arxiv.xml", papers.Crossref: "crossref.json", papers.EuropePMC: "europepmc.json"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, ok := files[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			w.Header().Set("Retry-After", "7200")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", map[string]string{".xml": "application/atom+xml", ".json": "application/json"}[filepath.Ext(file)])
		http.ServeFile(w, r, filepath.Join("..", "tools", "papers", "testdata", file))
	}))
	t.Cleanup(server.Close)
	client := fetch.New(fetch.Settings{Allow: []string{"127.0.0.1"}})
	t.Cleanup(client.Close)
	settings := papers.Settings{Outside: client, Pace: noWait{}, Addresses: map[string]string{}, Providers: []string{papers.ArXiv, papers.Crossref, papers.EuropePMC, papers.OpenAlex}}
	for _, name := range settings.Providers {
		settings.Addresses[name] = server.URL + "/" + name
	}
	index, err := papers.New(settings)
	if err != nil {
		t.Fatal(err)
	}

	b := newBench(t)
	b.run.Options.Tools, b.run.Options.MaxIterations = []string{"paper_search"}, 1
	b.decide = func(int, llm.Request) any {
		return prompts.DecideAnswer{Reasoning: "measurements are needed", Actions: []prompts.Action{ask("paper_search", "tidal turbine wake recovery 2015..2026")}}
	}
	const measured, counted = "the velocity deficit is 0.20 ± 0.02 of the inflow (p < 0.01)", "detections fell by 78% (p<0.001) in a radius of 140 m"
	b.note = func(req llm.Request) any {
		a := prompts.NoteAnswer{}
		for n := 1; n <= 6; n++ { // a model that does not know which source it reads tries all
			for _, quote := range []string{measured, counted, "cited by 27", "Renewable Energy; 2022"} {
				a.Claims = append(a.Claims, prompts.NoteClaim{Source: n, Text: quote, Quote: quote})
			}
		}
		return a
	}
	b.r.Runner = &tools.Runner{Tools: tools.Set{tools.NewPaperSearch(index, 6)}, Pages: b, Timeout: time.Minute, Limit: 6}
	if _, err := b.r.Research(t.Context(), b.run, b.run.Topic, b.start, b.queue); err != nil {
		t.Fatal(err)
	}
	cited := map[string]string{} // quote -> DOI
	for _, trace := range b.queue.traces() {
		for _, c := range trace.Claims {
			s := trace.Source
			if text := b.pages[s.Hash]; c.SourceID != s.ID || s.Kind != topicqueue.SourcePaper || text[c.Start:c.End] != c.Quote {
				t.Errorf("%q does not stand in %q", c.Quote, text)
			}
			cited[c.Quote] = s.DOI + " " + s.Publisher
		}
	}
	if len(cited) != 2 || cited[measured] != "10.1016/j.renene.2022.01.077 Renewable Energy" || cited[counted] != "10.1371/journal.pone.0240001 PloS one" {
		t.Errorf("claims: %v", cited)
	}
	told := false
	for _, page := range b.pages {
		told = told || strings.Contains(page, papers.Label(papers.OpenAlex)) && strings.Contains(page, "429")
	}
	if !told {
		t.Error("the answer does not say who is missing")
	}
}
