package websearch

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"nightdesk/pipeline/tools/fetch"
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

func decodeBrave(body []byte) (a answer, err error) {
	var r struct {
		Type  string
		Query struct{ Altered string }
		Web   struct{ Results []json.RawMessage }
	}
	if err := decode(body, &r); err != nil {
		return a, err
	}
	if r.Type != "search" { // web is missing if nothing was found
		return a, errors.New("response is not of type search")
	}
	type result struct {
		Title, URL, Description, Age string
		PageAge                      string   `json:"page_age"`
		ExtraSnippets                []string `json:"extra_snippets"`
		Profile                      struct{ Name string }
	}
	results, err := each[result](r.Web.Results)
	for _, h := range results {
		a.hits = append(a.hits, hit{
			title: h.Title, url: h.URL, date: cmp.Or(h.PageAge, h.Age), publisher: h.Profile.Name,
			text: strings.Join(append([]string{h.Description}, h.ExtraSnippets...), "\n"),
		})
	}
	if r.Query.Altered != "" {
		a.suggestions = []string{r.Query.Altered}
	}
	return a, err
}
