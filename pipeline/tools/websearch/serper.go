package websearch

import (
	"net/http"
	"strings"
	"time"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/loosejson"
)

// serper returns Google results: https://serper.dev/playground.
var serper = service{
	name:  "serper",
	base:  "https://google.serper.dev",
	every: 50 * time.Millisecond,
	most:  10, // more results cost twice as much
	request: func(base, key, query string, n int) fetch.Request {
		return post(base+"/search", "X-Api-Key", key, map[string]any{"q": query, "num": n})
	},
	decode: decodeSerper,
	operator: func(e *fetch.StatusError) string {
		// {"message":"Not enough credits"}
		if e.Status == http.StatusBadRequest && strings.Contains(strings.ToLower(e.Snippet), "credits") {
			return keyAdvice(http.StatusPaymentRequired, "SERPER_API_KEY")
		}
		return keyAdvice(e.Status, "SERPER_API_KEY")
	},
}

func decodeSerper(r loosejson.Value) (a answer, err error) {
	var results []loosejson.Value
	if box := r.At("answerBox"); box.Text("snippet") != "" { // the passage that answers the query
		results = append(results, box)
	}
	organic, err := r.Items("organic")
	if err != nil && !r.Has("organic") && r.Has("searchParameters") { // nothing was found
		err = nil
	}
	for _, h := range append(results, organic...) {
		a.hits = append(a.hits, hit{title: h.Text("title"), url: h.Text("link"), text: h.Text("snippet"),
			date: h.Text("date"), publisher: h.Text("source")})
	}
	for _, related := range r.List("relatedSearches") {
		a.suggestions = append(a.suggestions, related.Text("query"))
	}
	return a, err
}
