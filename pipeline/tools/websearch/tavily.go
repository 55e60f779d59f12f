package websearch

import (
	"encoding/json"
	"net/http"
	"time"

	"nightdesk/pipeline/tools/fetch"
)

// tavily returns excerpts selected for the query: https://docs.tavily.com/documentation/api-reference/endpoint/search.
var tavily = service{
	name:  "tavily",
	base:  "https://api.tavily.com",
	every: 600 * time.Millisecond, // development keys: 100 requests a minute
	most:  20,
	request: func(base, key, query string, n int) fetch.Request {
		return fetch.Request{
			Method: http.MethodPost, URL: base + "/search",
			Header: http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}},
			Body: jsonBody(map[string]any{ // without its answer, which a model generates
				"query": query, "search_depth": "basic", "topic": "general", "max_results": n, "include_answer": false,
				"include_raw_content": false,
			}),
		}
	},
	decode: decodeTavily,
	operator: func(e *fetch.StatusError) string {
		switch e.Status {
		case 432, 433: // limits of the plan and of pay as you go
			return keyAdvice(http.StatusPaymentRequired, "TAVILY_API_KEY")
		}
		return keyAdvice(e.Status, "TAVILY_API_KEY")
	},
}

func decodeTavily(body []byte) (a answer, err error) {
	var r struct{ Results []json.RawMessage }
	if err := decode(body, &r); err != nil {
		return a, err
	}
	if err := mustHave(r.Results, "results"); err != nil {
		return a, err
	}
	results, err := each[struct {
		Title, URL, Content string
		PublishedDate       string `json:"published_date"`
	}](r.Results)
	for _, h := range results {
		a.hits = append(a.hits, hit{title: h.Title, url: h.URL, text: h.Content, date: h.PublishedDate})
	}
	return a, err
}
