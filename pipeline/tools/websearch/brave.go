package websearch

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/loosejson"
)

// brave has its own index: https://api-dashboard.search.brave.com/app/documentation/web-search/get-started.
var brave = service{
	name:  "brave",
	base:  "https://api.search.brave.com",
	every: time.Second, // limit of the smallest plan
	most:  20,
	request: func(base, key, query string, n int) fetch.Request {
		values := url.Values{
			"q": {query}, "count": {strconv.Itoa(n)}, "result_filter": {"web"}, "text_decorations": {"false"},
		}
		return fetch.Request{URL: base + "/res/v1/web/search?" + values.Encode(),
			Header: http.Header{"X-Subscription-Token": {key}}}
	},
	decode: decodeBrave,
	operator: func(e *fetch.StatusError) string {
		if e.Status == http.StatusUnprocessableEntity && strings.Contains(e.Snippet, "SUBSCRIPTION_TOKEN_INVALID") {
			return keyAdvice(http.StatusUnauthorized, "BRAVE_API_KEY")
		}
		return keyAdvice(e.Status, "BRAVE_API_KEY")
	},
}

func decodeBrave(r loosejson.Value) (a answer, err error) {
	if r.Text("type") != "search" {
		return a, errors.New("response is not of type search")
	}
	var results []loosejson.Value
	if r.Has("web.results") { // web is missing if nothing was found
		results, err = r.Items("web.results")
	}
	for _, h := range results {
		a.hits = append(a.hits, hit{
			title: h.Text("title"), url: h.Text("url"), date: cmp.Or(h.Text("page_age"), h.Text("age")),
			publisher: h.Text("profile.name"),
			text:      strings.Join(append([]string{h.Text("description")}, h.Texts("extra_snippets")...), "\n"),
		})
	}
	if altered := r.Text("query.altered"); altered != "" {
		a.suggestions = []string{altered}
	}
	return a, err
}
