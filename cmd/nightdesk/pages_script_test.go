package main_test

import (
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"nightdesk/pipeline/llm/llmtest"
)

// startSite starts a site with a page on heat pumps, and a model that opens this page: SITE is its address.
func startSite(ts *testscript.TestScript, _ bool, _ []string) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /members\n")
			return
		}
		if r.URL.Path == "/curve.jpg" {
			_ = jpeg.Encode(w, image.NewGray(image.Rect(0, 0, 400, 300)), nil)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<title>Heat pumps in winter</title><nav><a href="/">Home</a></nav><main>
			<p>The ratio of heat to electricity of a heat pump falls from 4 at 10 degrees to 2 at minus 10 degrees.</p>
			<p>Ice on the outdoor coil is melted by running the heat pump backwards for some minutes.</p>
			<figure><img src="/curve.jpg"><figcaption>Heat by [temperature](https://evil.example/)
			<a rel="license" href="https://creativecommons.org/licenses/by/4.0/"></a></figcaption></figure></main>`)
	}))
	ts.Defer(site.Close)
	page := site.URL + ts.Getenv("PAGE") // the model answers in other goroutines
	model := httptest.NewServer(&llmtest.Stub{Models: []string{"stub"}, Answer: func(q llmtest.Question) (string, bool) {
		answer, ok := readsHeatPumps(q)
		answer = strings.ReplaceAll(answer, `"rag_hybrid"`, `"open_page"`)
		return strings.ReplaceAll(answer, `"defrost cycle of a heat pump"`, `"`+page+`"`), ok
	}})
	ts.Defer(model.Close)
	ts.Setenv("SITE", site.URL)
	ts.Setenv("LLM_MODEL", "stub")
	ts.Setenv("LLM_BASE_URL", model.URL+"/v1")
}
