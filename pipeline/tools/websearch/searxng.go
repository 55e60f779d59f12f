package websearch

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"nightdesk/pipeline/tools/fetch"
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

func decodeSearXNG(body []byte) (a answer, err error) {
	var r struct {
		Results, Infoboxes, Suggestions, Corrections []json.RawMessage
		Unresponsive                                 []json.RawMessage `json:"unresponsive_engines"`
	}
	if err := decode(body, &r); err != nil {
		return a, err
	}
	if err := mustHave(r.Results, "results"); err != nil {
		return a, err
	}
	type infobox struct {
		Infobox, Content, ID string
		URLs                 []struct{ URL string }
	}
	boxes, _ := each[infobox](r.Infoboxes)
	for _, b := range boxes { // from an encyclopedia: longer excerpts than in results
		if address := b.ID; b.Content != "" {
			if _, _, ok := cleanAddress(address); !ok && len(b.URLs) > 0 {
				address = b.URLs[0].URL
			}
			a.hits = append(a.hits, hit{title: b.Infobox, url: address, text: b.Content})
		}
	}
	results, err := each[struct{ URL, Title, Content, PublishedDate string }](r.Results)
	if err != nil {
		return a, err
	}
	for _, h := range results {
		a.hits = append(a.hits, hit{title: h.Title, url: h.URL, text: h.Content, date: h.PublishedDate})
	}
	a.suggestions = append(texts(r.Corrections), texts(r.Suggestions)...)
	engines, _ := each[[]string](r.Unresponsive)
	for _, e := range engines { // ["google", "CAPTCHA"]
		a.silent = append(a.silent, strings.Join(e, ": "))
	}
	return a, nil
}
