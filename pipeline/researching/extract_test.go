package researching_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/text"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/websearch"
	"nightdesk/topicqueue"
)

// shared returns sources ranked by a knowledge base search. shares: scores relative to the best one.
func shared(shares []float64, texts ...string) tools.Result {
	r := found(texts...)
	for i := range r.Sources {
		r.Sources[i].Share = shares[i]
	}
	return r
}

// web gives the block a web search that finds three pages, one of which can be opened and is relevant.
func (b *bench) web(*testing.T) {
	b.run.Options.Tools = []string{"web_search", "open_page"}
	b.tools["web_search"] = func(string) tools.Result {
		r := found("Spring tides and all you need to know about spring tides ...", "Spring tides explained ... subscribe", "tides")
		for i, page := range []string{"springs", "walled", "boats"} {
			r.Sources[i].Kind, r.Sources[i].Document, r.Sources[i].URL = topicqueue.SourceWeb, "", "https://a.example/"+page
		}
		return r
	}
	b.tools["open_page"] = func(address string) tools.Result {
		switch address {
		case "https://a.example/springs":
			r := found("Spring tides come at new moon and at full moon.\n\nBoats are moored in the basin.")
			r.Sources[0].Document, r.Sources[0].URL = "", address
			return r
		case "https://a.example/boats":
			r := found("Boats are painted in winter.")
			r.Sources[0].Title, r.Sources[0].Section = "Boats", nil
			r.Sources[0].Document, r.Sources[0].URL = "", address
			return r
		}
		return tools.Result{Failed: true, Text: "the page wants a subscription"}
	}
}

// claimLines returns the claims of the block as lines of citation id and text. Each must be at its position.
func (b *bench) claimLines() []string {
	b.t.Helper()
	var lines []string
	for _, tr := range b.queue.traces() {
		for _, c := range tr.Claims {
			if tr.Source.Text[c.Start:c.End] != c.Quote || b.r.Model == nil && c.Text != strings.Join(strings.Fields(c.Quote), " ") {
				b.t.Errorf("claim %+v is not what stands at its place", c)
			}
			lines = append(lines, c.CitationID+" "+c.Text)
		}
	}
	return lines
}

// TestExtractive: without a model, a block makes its planned queries and look-ups of items in its topic, in as many
// iterations as needed, and ends.
func TestExtractive(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.r.Model = nil
	b.r.MaxActions = 2
	b.run.Topic = "How do spring tides work, and what does Table 2 say?"
	b.run.Options.Tools, b.run.Options.MaxIterations = []string{"rag_hybrid", "query_item"}, 9
	b.start.Block.Queries = starters
	b.tools["rag_hybrid"] = func(query string) tools.Result { return shared([]float64{1}, fact(query)) }
	b.tools["query_item"] = func(string) tools.Result { return found("Table 2 lists twelve harbours.") }
	res, err := b.research()
	if err != nil || res.Iterations != 2 || len(res.Fallbacks) != 0 || len(b.asked) != 0 {
		t.Fatalf("%+v, %v, a model was asked %d questions", res, err, len(b.asked))
	}
	if want := [][]string{starters, {"query_item: Table 2"}}; !slices.EqualFunc(b.queue.checkpoints, want,
		func(cp topicqueue.Checkpoint, queries []string) bool { return slices.Equal(cp.Queries, queries) }) {
		t.Errorf("checkpoints %+v, want queries %q", b.queue.checkpoints, want)
	}
	if got, want := b.claimLines(), []string{"CIT-3-01 " + fact(starters[0]), "CIT-3-02 " + fact(starters[1]),
		"CIT-3-03 Table 2 lists twelve harbours."}; !slices.Equal(got, want) {
		t.Errorf("claims %q, want %q", got, want)
	}
}

// TestExtractiveSearches: every search gets the planned queries, or the title if there are none.
func TestExtractiveSearches(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name             string
		enabled, queries []string
		called           []string
	}{
		{"base, web and papers", []string{"rag_naive", "rag_hybrid", "web_search", "paper_search"}, starters[:1],
			[]string{"rag_hybrid: spring tides cause", "web_search: spring tides cause", "paper_search: spring tides cause"}},
		{"no queries", []string{"rag_naive", "web_search"}, nil, []string{"rag_naive: Spring tides", "web_search: Spring tides"}},
		{"nothing to ask", []string{"run_code"}, starters, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.r.Model = nil
			b.run.Options.Tools, b.start.Block.Queries = tt.enabled, tt.queries
			for _, tool := range tt.enabled {
				b.tools[tool] = func(string) tools.Result { return tools.Result{} }
			}
			res, err := b.research()
			slices.Sort(b.called)
			slices.Sort(tt.called)
			if err != nil || res.Claims != 0 || res.Iterations != min(1, len(tt.called)) || !slices.Equal(b.called, tt.called) {
				t.Errorf("%+v, %v, called %q, want %q", res, err, b.called, tt.called)
			}
		})
	}
}

// TestCallsThatFailed: if pages cannot be opened, the block reports the failed call and the reason, which the user can
// fix.
func TestCallsThatFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.r.Model = nil
	b.web(t)
	b.tools["open_page"] = func(string) tools.Result {
		return tools.Result{Failed: true, Text: "the page wants a subscription"}
	}
	res, err := b.research()
	want := []string{
		`open_page for "https://a.example/springs" failed: the page wants a subscription`,
		`open_page for "https://a.example/walled" failed: the page wants a subscription`,
		`open_page for "https://a.example/boats" failed: the page wants a subscription`,
	}
	if err != nil || res.Claims != 0 || !slices.Equal(res.Failures, want) {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestExtractiveBlocks: without a model, a claim is a whole paragraph, list with introduction, table or code block.
func TestExtractiveBlocks(t *testing.T) {
	t.Parallel()
	blocks := []string{
		"Spring tides follow the moon.\nThey come twice in a month.",
		"They happen at:\n\n- new moon\n- full moon",
		"| Harbour | Metres |\n|---|---|\n| Brest | 6.1 |",
		"Reckon the range with:\n\n```\nspring_range(\n    harbour)\n```",
	}
	b := newBench(t)
	b.r.Model = nil
	b.tools["rag_hybrid"] = func(string) tools.Result { return shared([]float64{1}, strings.Join(blocks, "\n\n")) }
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	var quotes []string
	for _, c := range b.queue.traces()[0].Claims {
		quotes = append(quotes, c.Quote)
	}
	b.claimLines()
	if !slices.Equal(quotes, blocks) {
		t.Errorf("%q, want %q", quotes, blocks)
	}
}

// TestShares: passages kept in addition to the best one, by the tool that returned them.
func TestShares(t *testing.T) {
	t.Parallel()
	abstract := func(title, text string) tools.Result {
		r := found(text)
		r.Sources[0].Kind, r.Sources[0].Title, r.Sources[0].Section = topicqueue.SourcePaper, title, nil
		return r
	}
	tests := []struct {
		name  string
		tools map[string]func(string) tools.Result
		want  []string
	}{
		{"nearly as good as the best", map[string]func(string) tools.Result{
			"rag_hybrid": func(string) tools.Result { return shared([]float64{1, .6, .59}, "One.", "Two.", "Three.") },
		}, []string{"One.", "Two."}},
		{"a search that does not rank by words", map[string]func(string) tools.Result{
			"rag_naive": func(string) tools.Result {
				r := found("Cheese is ripe.", "Tides of the moon are spring tides.", "Spring tides.")
				for i := range r.Sources {
					r.Sources[i].Title, r.Sources[i].Section = "", nil
				}
				return r
			},
		}, []string{"Tides of the moon are spring tides.", "Spring tides."}},
		{"nothing has a word of it", map[string]func(string) tools.Result{
			"paper_search": func(string) tools.Result { return abstract("Cheese", "Cheese is ripe in autumn.") },
		}, nil},
		{"papers and pages are ranked together", map[string]func(string) tools.Result{
			"paper_search": func(string) tools.Result {
				return abstract("Rivers", "A river is mentioned with tides, wind, rain, snow, ice, fog, storms and other things.")
			},
			"web_search": func(string) tools.Result {
				r := found("Spring tides explained: spring tides, spring tides.")
				r.Sources[0].URL = "https://a.example/"
				return r
			},
			"open_page": func(string) tools.Result {
				return abstract("Spring tides", "Spring tides come when the moon is full.\n\nHow they work: sun and moon pull together.")
			},
		}, []string{"Spring tides come when the moon is full.", "How they work: sun and moon pull together."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.r.Model = nil
			b.tools, b.run.Options.Tools = tt.tools, nil
			for name := range tt.tools {
				b.run.Options.Tools = append(b.run.Options.Tools, name)
			}
			if _, err := b.research(); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, line := range b.claimLines() {
				_, claim, _ := strings.Cut(line, " ")
				got = append(got, claim)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			for _, tr := range b.queue.traces() {
				for _, c := range tr.Claims {
					if c.Share < 0.6 || c.Share > 1 {
						t.Errorf("claim %q has the share %v", c.Text, c.Share)
					}
				}
			}
		})
	}
}

// TestShareOfTheBetterSearch: a source returned by two searches gets the better of its scores.
func TestShareOfTheBetterSearch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.r.Model = nil
	b.start.Block.Queries = starters
	b.tools["rag_hybrid"] = func(query string) tools.Result {
		if query == starters[0] {
			return shared([]float64{1, .3}, "One.", "Two.")
		}
		return shared([]float64{1, .2}, "Two.", "One.")
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	if got := b.claimLines(); !slices.Equal(got, []string{"CIT-3-01 One.", "CIT-3-02 Two."}) {
		t.Errorf("%q", got)
	}
}

// TestExtractiveLongPage: of a long page, the relevant passages are kept, each at its position, even if no window fits
// the model that should have read it.
func TestExtractiveLongPage(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	for i := range 900 {
		fmt.Fprintf(&page, "Paragraph %d tells how boats are moored, painted and sold at harbour %d.\n\n", i, i)
		if i == 300 {
			page.WriteString("Spring tides work by the pull of the moon and the sun together, tides of the spring.\n\n")
		}
	}
	for name, model := range map[string]bool{"no model": false, "a window too small": true} {
		b := newBench(t)
		b.run.Options.Tools, b.run.Options.MaxIterations = []string{"open_page"}, 1
		b.tools["open_page"] = func(string) tools.Result {
			r := found(page.String())
			r.Sources[0].Title, r.Sources[0].Section = "Harbours", nil
			return r
		}
		b.decide = func(int, llm.Request) any { return act(ask("open_page", "https://a.example/")) }
		b.note = func(llm.Request) any { return fmt.Errorf("%w: %w", llm.ErrPermanent, llm.ErrContextLength) }
		if !model {
			b.web(t)
			b.r.Model = nil
			long := b.tools["open_page"]
			b.tools["open_page"] = func(string) tools.Result {
				r := long("https://a.example/springs")
				r.Sources[0].Text = page.String()
				return r
			}
		}
		res, err := b.research()
		claims := b.claimLines()
		if err != nil || res.Claims == 0 || !slices.ContainsFunc(claims, func(c string) bool { return strings.Contains(c, "pull of the moon") }) {
			t.Errorf("%s: %+v, %v, %q", name, res, err, claims)
		}
		for _, tr := range b.queue.traces() {
			if n := len(text.Passages(tr.Source.Text, nil)); len(tr.Claims) > 60 || n < 30 {
				t.Errorf("%s: %d claims of %d passages", name, len(tr.Claims), n)
			}
		}
	}
}

// TestExtractiveWeb: without a model, the best pages are opened and read. Search excerpts are not findings.
func TestExtractiveWeb(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.r.Model = nil
	b.web(t)
	res, err := b.research()
	if err != nil || res.Iterations != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	if got, want := b.claimLines(), []string{"CIT-3-01 Spring tides come at new moon and at full moon.", "CIT-3-01 Boats are moored in the basin."}; !slices.Equal(got, want) {
		t.Errorf("claims %q, want %q", got, want)
	}
	if want := []string{"web_search: Spring tides", "open_page: https://a.example/springs", "open_page: https://a.example/walled",
		"open_page: https://a.example/boats"}; !slices.Equal(b.queue.checkpoints[0].Queries, want) {
		t.Errorf("queries %q, want %q", b.queue.checkpoints[0].Queries, want)
	}
}

// TestExtractiveWebOnServers: the same with servers: a search engine, and pages, one of which is missing. Four are
// found and three are opened.
func TestExtractiveWebOnServers(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("/search", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var results []map[string]string
		for _, page := range []string{"missing", "springs", "neaps", "fourth"} {
			results = append(results, map[string]string{"url": server.URL + "/" + page, "title": "Tides: " + page, "content": "spring tides ... " + page})
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"query": "q", "results": results}); err != nil {
			t.Error(err)
		}
	})
	page := func(title, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, "<html><head><title>%s</title></head><body><article><h1>%s</h1>%s</article></body></html>", title, title, body)
		}
	}
	mux.HandleFunc("/springs", page("Spring tides", "<p>Spring tides happen at two phases of the moon, which are listed here:</p><ul><li>new moon</li><li>full moon</li></ul>"))
	mux.HandleFunc("/neaps", page("Harbour dues", "<p>Dues are paid at the office, which is open on all days of the week from nine to five.</p>"))
	client := fetch.New(fetch.Settings{Allow: []string{"127.0.0.1"}})
	t.Cleanup(client.Close)
	engine, err := websearch.New(websearch.Settings{Name: "searxng", BaseURL: server.URL, Outside: client, Pace: noWait{}})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.r.Model = nil
	b.run.Options.Tools = []string{"web_search", "open_page"}
	b.r.Runner = &tools.Runner{Pages: b, Timeout: time.Minute, Limit: 10, Tools: tools.Set{
		tools.NewWebSearch(websearch.NewChain(engine), 10), tools.NewOpenPage(client)}}
	if _, err := b.r.Research(t.Context(), b.run, b.run.Topic, b.start, b.queue); err != nil {
		t.Fatal(err)
	}
	if n := len(b.queue.checkpoints[0].Queries); n != 4 {
		t.Errorf("queries %q, want the search and three pages", b.queue.checkpoints[0].Queries)
	}
	traces := b.queue.traces()
	if len(traces) != 1 || traces[0].Source.URL != server.URL+"/springs" || traces[0].Source.Title != "Spring tides" {
		t.Fatalf("%+v", traces)
	}
	if got := b.claimLines(); len(got) != 1 || !strings.Contains(got[0], "listed here: - new moon - full moon") {
		t.Errorf("claims %q", got)
	}
}

// TestExtractiveNothing: a corpus without relevant documents is not an error. The caller handles a block without
// claims.
func TestExtractiveNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.r.Model = nil
	b.tools["rag_hybrid"] = func(string) tools.Result { return tools.Result{Text: "The knowledge base has nothing."} }
	res, err := b.research()
	if err != nil || res.Claims != 0 || res.Iterations != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
}

// TestActionsOfTheRun: options of the run take precedence over the worker's settings.
func TestActionsOfTheRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.r.Model = nil
	b.start.Block.Queries = starters
	b.run.Options.MaxActions = 1
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	if len(b.queue.checkpoints) != 2 {
		t.Errorf("%d checkpoints", len(b.queue.checkpoints))
	}
	for i, cp := range b.queue.checkpoints {
		if len(cp.Queries) > 1 {
			t.Errorf("iteration %d asked %q", i+1, cp.Queries)
		}
	}
}

// TestShareOfClaims: claims that no model read are quoted and have a relevance score. Claims of a model have none.
func TestShareOfClaims(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 2
	b.tools["rag_hybrid"] = func(query string) tools.Result { return shared([]float64{.9}, fact(query)) }
	b.note = func(req llm.Request) any {
		if req.Position.Iteration == 1 {
			return "no note"
		}
		return honestNote(req)
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	traces := b.queue.traces()
	if len(traces) != 2 || traces[0].Claims[0].Share != .9 || traces[1].Claims[0].Share != 0 || traces[0].Claims[0].Quote != fact("question number 1") {
		t.Errorf("%+v", traces)
	}
}
