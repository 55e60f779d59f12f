package main_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"nightdesk/config"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/tools/websearch"
)

// startSearch starts a model that searches the web, a SearXNG and a Tavily: search [nojson]. SEARXNG and TAVILY are
// their addresses, and no variable of nightdesk is set but those of the model.
func startSearch(ts *testscript.TestScript, _ bool, args []string) {
	noJSON := slices.Contains(args, "nojson")
	searxng := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case noJSON || r.URL.Path != "/search" || r.FormValue("format") != "json":
			http.Error(w, "<h1>Forbidden</h1>", http.StatusForbidden)
		case r.FormValue("q") == "":
			http.Error(w, `{"error":"No query"}`, http.StatusBadRequest)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"query":"x","number_of_results":0,"answers":[],"corrections":[],"infoboxes":[],"suggestions":[],"unresponsive_engines":[],"results":[
				{"url":"https://energy.example/winter?utm_source=x","title":"Heat pumps in winter","engine":"mojeek","publishedDate":"2026-01-15T00:00:00",
				"content":"The ratio of heat to electricity of a heat pump falls from 4 at 10 degrees to 2 at minus 10 degrees."}]}`)
		}
	}))
	ts.Defer(searxng.Close)
	model := httptest.NewServer(&llmtest.Stub{Models: []string{"stub"}, Answer: func(q llmtest.Question) (string, bool) {
		answer, ok := readsHeatPumps(q)
		return strings.ReplaceAll(answer, `"rag_hybrid"`, `"web_search"`), ok
	}})
	ts.Defer(model.Close)
	for name, value := range map[string]string{"SEARXNG": searxng.URL, "LLM_MODEL": "stub", "LLM_BASE_URL": model.URL + "/v1"} {
		ts.Setenv(name, value)
	}
}

// The settings know the search engines that there are, in the same order.
func TestSearchEngineNames(t *testing.T) {
	t.Parallel()
	key := config.NewSecret("k")
	var settings []string
	for _, e := range (config.WebSearch{SearXNGURL: config.NewURL("http://x"), TavilyAPIKey: key, BraveAPIKey: key, SerperAPIKey: key, ExaAPIKey: key}).Engines() {
		settings = append(settings, e.Name)
	}
	if engines := websearch.Names(); !slices.Equal(settings, engines) {
		t.Errorf("settings: %v, engines: %v", settings, engines)
	}
}
