package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/search"
)

// searchPage is the data of the search page.
type searchPage struct {
	search.Results
	Query, Batch, AllURL string
	Why                  string // why the search failed
	First, Last          int    // numbers of the first and last result shown, from 1
	Earlier, Later       string
}

const foundOnPage = 20

// search shows the search page: ?q, ?batch and ?from.
func (s *site) searchPage(ctx context.Context, r *http.Request) (string, any, error) {
	query := r.URL.Query()
	p := searchPage{Query: strings.TrimSpace(query.Get("q")), Batch: strings.TrimSpace(query.Get("batch"))}
	if p.Query == "" {
		return "Search", p, nil
	}
	from, _ := strconv.Atoi(query.Get("from")) // an invalid number counts as 0
	from = max(0, from)
	at := func(batch string, from int) string {
		v := url.Values{"q": {p.Query}}
		if batch != "" {
			v.Set("batch", batch)
		}
		if from > 0 {
			v.Set("from", strconv.Itoa(from))
		}
		return "?" + v.Encode()
	}
	var err error
	p.Results, err = s.Search(ctx, search.Query{Text: p.Query, Batch: p.Batch, Limit: foundOnPage, Offset: from})
	switch {
	case view.IsUsage(err):
		p.Why = view.HintOf(err)
	case ctx.Err() != nil:
		return "", nil, err
	case err != nil:
		s.Console.Log.Error().Err(err).Msg("reports cannot be searched")
		p.Why = "Reports cannot be searched now: " + err.Error()
	}
	p.First, p.Last, p.AllURL = from+1, from+len(p.Results.Results), at("", 0)
	if from > 0 {
		p.Earlier = at(p.Batch, max(0, from-foundOnPage))
	}
	if p.Last < p.Total {
		p.Later = at(p.Batch, p.Last)
	}
	return fmt.Sprintf("Search: %s", p.Query), p, nil
}

// textFragment returns a URL fragment that makes browsers scroll to a text and highlight it (WICG, URL Fragment Text
// Directives). It contains only the first words, because a citation marker may follow them on the page.
func textFragment(text string) string {
	text, _, _ = strings.Cut(text, " | ") // a table cell
	const words, bytes = 8, 60
	end, seen := 0, 0
	for i, r := range text {
		if r == ' ' {
			if seen++; seen == words {
				break
			}
		}
		if i > bytes && (r == ' ' || r >= 0x2e80) {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	text = strings.TrimRight(text[:end], " .,;:!?。，、")
	if text == "" {
		return ""
	}
	return "#:~:text=" + strings.ReplaceAll(url.PathEscape(text), "-", "%2D")
}
