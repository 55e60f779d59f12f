package websearch

import (
	"net/http"
	"time"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/loosejson"
)

// tavily returns excerpts selected for the query: https://docs.tavily.com/documentation/api-reference/endpoint/search.
var tavily = service{
	name:  "tavily",
	base:  "https://api.tavily.com",
	every: 600 * time.Millisecond, // development keys: 100 requests a minute
	most:  20,
	request: func(base, key, query string, n int) fetch.Request {
		return post(base+"/search", "Authorization", "Bearer "+key, map[string]any{
			// without its answer, which a model generates
			"query": query, "search_depth": "basic", "topic": "general", "max_results": n, "include_answer": false,
			"include_raw_content": false,
		})
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

func decodeTavily(r loosejson.Value) (a answer, err error) {
	results, err := r.Items("results")
	for _, h := range results {
		a.hits = append(a.hits, hit{title: h.Text("title"), url: h.Text("url"), text: h.Text("content"),
			date: h.Text("published_date")})
	}
	return a, err
}
