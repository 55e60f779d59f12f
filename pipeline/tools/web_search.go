package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/tools/websearch"
	"nightdesk/topicqueue"
)

//go:embed web_search.md
var webSearchDescription string

// WebSearcher searches the web; *websearch.Chain implements it.
type WebSearcher interface {
	// Search returns the n best results; an empty result is not an error. The error is a *websearch.FailedError, or
	// context.Cause(ctx) when ctx has ended.
	Search(ctx context.Context, query string, n int) (websearch.Found, error)
}

var _ WebSearcher = (*websearch.Chain)(nil)

// webSearch is the tool web_search.
type webSearch struct {
	engines WebSearcher
	limit   int
}

// NewWebSearch returns web_search, which finds web pages with excerpts. limit: pages per call. One tool serves all runs
// of a process.
func NewWebSearch(engines WebSearcher, limit int) Tool { return webSearch{engines, limit} }

// Name returns the tool's name.
func (webSearch) Name() string { return NameWebSearch }

// Description returns the description for the model.
func (webSearch) Description() string { return strings.TrimSpace(webSearchDescription) }

// Call searches the web. Failed is set only if the query is empty or no search engine could answer.
func (t webSearch) Call(ctx context.Context, call Call) (Result, error) {
	query := strings.Join(strings.Fields(call.Query), " ")
	if query == "" {
		return failed("web_search needs a query; it was called without one."), nil
	}
	found, err := t.engines.Search(ctx, query, t.limit)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		zerolog.Ctx(ctx).Debug().Err(err).Msg("web search failed")
		return failed("web_search could not search: %s. Go on with other tools; it may work again later.", failures(err)), nil
	}
	return pages(query, found), nil
}

// failures explains why no search engine answered.
func failures(err error) string {
	var all *websearch.FailedError
	if !errors.As(err, &all) || len(all.Errors) == 0 {
		return "no search engine answered"
	}
	words := make([]string, len(all.Errors))
	for i, e := range all.Errors {
		words[i] = e.Words()
	}
	return strings.Join(words, ", ")
}

// pages builds the answer from the search results. Pages without an excerpt are only named, because they cannot be
// quoted.
func pages(query string, found websearch.Found) Result {
	var result Result
	var text, bare []string
	for _, s := range found.Sources {
		if s.Text == "" {
			bare = append(bare, "- "+pageHeading(s))
			result.Named = append(result.Named, s)
			continue
		}
		result.Sources = append(result.Sources, s)
		text = append(text, fmt.Sprintf("[%d] %s\n%s", len(result.Sources), pageHeading(s), s.Text))
	}
	result.Named = append(result.Named, found.Others...)
	if len(text) == 0 {
		text = append(text,
			fmt.Sprintf("web_search found nothing for %q. Try other or fewer words, or another language.", short(query)))
		if len(bare) > 0 {
			text[0] = fmt.Sprintf("web_search found pages for %q, but no excerpt of them; open_page shows what they say.",
				short(query))
		}
		if len(found.Suggestions) > 0 {
			text = append(text, "The search engine proposes: "+strings.Join(found.Suggestions, "; "))
		}
	}
	if len(bare) > 0 {
		text = append(text, "Without an excerpt:\n"+strings.Join(bare, "\n"))
	}
	result.Text = strings.Join(text, "\n\n")
	return result
}

// pageHeading returns "title (address, date)".
func pageHeading(s topicqueue.Source) string {
	place := s.URL
	if s.Date != "" {
		place += ", " + s.Date
	}
	return fmt.Sprintf("%s (%s)", s.Title, place)
}
