package websearch

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"nightdesk/pipeline/tools/fetch"
)

// exa searches by meaning and returns passages of pages: https://exa.ai/docs/reference/search.
var exa = service{
	name:  "exa",
	base:  "https://api.exa.ai",
	every: 200 * time.Millisecond,
	most:  25, // more results cost extra
	request: func(base, key, query string, n int) fetch.Request {
		return fetch.Request{
			Method: http.MethodPost, URL: base + "/search",
			Header: http.Header{"X-Api-Key": {key}, "Content-Type": {"application/json"}},
			Body: jsonBody(map[string]any{"query": query, "type": "auto", "numResults": n,
				"contents": map[string]any{"highlights": true}}),
		}
	},
	decode:   decodeExa,
	operator: func(e *fetch.StatusError) string { return keyAdvice(e.Status, "EXA_API_KEY") },
}

func decodeExa(body []byte) (a answer, err error) {
	var r struct{ Results []json.RawMessage }
	if err := decode(body, &r); err != nil {
		return a, err
	}
	if err := mustHave(r.Results, "results"); err != nil {
		return a, err
	}
	type result struct {
		Title, URL, ID, PublishedDate, Text string
		Highlights                          []string // verbatim, unlike its summary
	}
	results, err := each[result](r.Results)
	for _, h := range results {
		a.hits = append(a.hits, hit{
			title: h.Title, url: cmp.Or(h.URL, h.ID), date: h.PublishedDate,
			text: cmp.Or(strings.Join(h.Highlights, "\n"), h.Text),
		})
	}
	return a, err
}
