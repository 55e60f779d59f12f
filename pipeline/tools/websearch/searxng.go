package websearch

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/loosejson"
)

// searxng is a metasearch engine run by the operator: https://docs.searxng.org/dev/search_api.html. The number of
// results is a setting of the instance.
var searxng = service{
	name:  "searxng",
	every: 10 * time.Millisecond, // it is the operator's own; if it refuses, Pace.Slow lowers the rate
	request: func(base, _, query string, _ int) fetch.Request {
		values := url.Values{"q": {withoutCommands(query)}, "format": {"json"}, "categories": {"general"}}
		return fetch.Request{URL: searxngSearch(base) + "?" + values.Encode(), Header: http.Header{}}
	},
	decode: decodeSearXNG,
	reach: func(base string) fetch.Request { // without a query: 400 if JSON is enabled, else 403
		return fetch.Request{URL: searxngSearch(base) + "?format=json", Accept: []string{"application/json"}}
	},
	operator: func(e *fetch.StatusError) string {
		switch e.Status {
		case http.StatusForbidden:
			return "SearXNG does not answer in JSON: add json to search.formats in its settings.yml, and make " +
				"sure that its limiter allows this machine."
		case http.StatusUnauthorized:
			return "SearXNG requires a name and a password: SEARXNG_URL=https://NAME:PASSWORD@HOST."
		case http.StatusNotFound:
			return "There is no SearXNG at SEARXNG_URL. Set it to the address of the start page."
		}
		return ""
	},
}

// searxngSearch returns the search address of an instance.
func searxngSearch(base string) string { return strings.TrimSuffix(base, "/search") + "/search" }

// command matches the start of SearXNG commands: !engine, !!site, :language, <timeout.
var command = regexp.MustCompile(`(^|\s)(?:[!:]+|<(\d))`)

// withoutCommands returns the query without the characters that mark commands.
func withoutCommands(query string) string {
	return strings.TrimSpace(command.ReplaceAllString(query, "$1$2"))
}

func decodeSearXNG(r loosejson.Value) (a answer, err error) {
	for _, b := range r.List("infoboxes") { // from an encyclopedia: longer excerpts than in results
		address, content := b.Text("id"), b.Text("content")
		if _, _, ok := fetch.CleanAddress(address); !ok && len(b.List("urls")) > 0 {
			address = b.List("urls")[0].Text("url")
		}
		if content != "" {
			a.hits = append(a.hits, hit{title: b.Text("infobox"), url: address, text: content})
		}
	}
	results, err := r.Items("results")
	for _, h := range results {
		a.hits = append(a.hits, hit{title: h.Text("title"), url: h.Text("url"), text: h.Text("content"),
			date: h.Text("publishedDate")})
	}
	a.suggestions = append(r.Texts("corrections"), r.Texts("suggestions")...)
	for _, e := range r.List("unresponsive_engines") { // ["google", "CAPTCHA"]
		a.silent = append(a.silent, strings.Join(e.Texts(""), ": "))
	}
	return a, err
}
