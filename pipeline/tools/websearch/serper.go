package websearch

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"nightdesk/pipeline/tools/fetch"
)

// serper returns Google results: https://serper.dev/playground.
var serper = service{
	name:  "serper",
	base:  "https://google.serper.dev",
	every: 50 * time.Millisecond,
	most:  10, // more results cost twice as much
	request: func(base, key, query string, n int) fetch.Request {
		return fetch.Request{
			Method: http.MethodPost, URL: base + "/search",
			Header: http.Header{"X-Api-Key": {key}, "Content-Type": {"application/json"}},
			Body:   jsonBody(map[string]any{"q": query, "num": n}),
		}
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

func decodeSerper(body []byte) (a answer, err error) {
	type result struct{ Title, Link, Snippet, Date, Source string }
	var r struct {
		SearchParameters json.RawMessage
		AnswerBox        json.RawMessage
		Organic          []json.RawMessage
		RelatedSearches  []json.RawMessage
	}
	if err := decode(body, &r); err != nil {
		return a, err
	}
	if r.Organic == nil && r.SearchParameters == nil {
		return a, errors.New(`response has neither "organic" nor "searchParameters"`)
	}
	results, err := each[result](r.Organic)
	if err != nil {
		return a, err
	}
	var box result // the passage that answers the query
	if json.Unmarshal(r.AnswerBox, &box) == nil && box.Snippet != "" {
		results = append([]result{box}, results...)
	}
	for _, h := range results {
		a.hits = append(a.hits, hit{title: h.Title, url: h.Link, text: h.Snippet, date: h.Date, publisher: h.Source})
	}
	related, _ := each[struct{ Query string }](r.RelatedSearches)
	for _, q := range related {
		a.suggestions = append(a.suggestions, q.Query)
	}
	return a, nil
}
