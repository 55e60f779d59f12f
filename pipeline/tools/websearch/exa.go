package websearch

import (
	"cmp"
	"strings"
	"time"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/loosejson"
)

// exa searches by meaning and returns passages of pages: https://exa.ai/docs/reference/search.
var exa = service{
	name:  "exa",
	base:  "https://api.exa.ai",
	every: 200 * time.Millisecond,
	most:  25, // more results cost extra
	request: func(base, key, query string, n int) fetch.Request {
		return post(base+"/search", "X-Api-Key", key, map[string]any{"query": query, "type": "auto", "numResults": n,
			"contents": map[string]any{"highlights": true}})
	},
	decode:   decodeExa,
	operator: func(e *fetch.StatusError) string { return keyAdvice(e.Status, "EXA_API_KEY") },
}

func decodeExa(r loosejson.Value) (a answer, err error) {
	results, err := r.Items("results")
	for _, h := range results {
		a.hits = append(a.hits, hit{
			title: h.Text("title"), url: cmp.Or(h.Text("url"), h.Text("id")), date: h.Text("publishedDate"),
			text: cmp.Or(strings.Join(h.Texts("highlights"), "\n"), h.Text("text")), // verbatim, unlike its summary
		})
	}
	return a, err
}
