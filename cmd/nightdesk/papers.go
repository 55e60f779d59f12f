package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/papers"
)

// paperIndex returns what paper_search asks.
func paperIndex(cfg config.Config, outside papers.Fetcher, pace fetch.Pace) (*papers.Search, error) {
	p := cfg.PaperSearch
	index, err := papers.New(papers.Settings{
		Providers: p.Names(), OpenAlexKey: p.OpenAlexKey.Reveal(), SemanticScholarKey: p.SemanticScholarKey.Reveal(),
		CrossrefMailto: p.CrossrefMailto, Outside: outside, Pace: pace,
	})
	if err != nil {
		return nil, view.Usage(fmt.Errorf("paper_search.providers: %w", err))
	}
	return index, nil
}

// checkPapers asks each index of paper_search for a paper.
func checkPapers(ctx context.Context, cfg config.Config, _ *view.Console) []checkup {
	if !cfg.Researching.EnablePaperSearch {
		return nil
	}
	outside := fetch.New(fetch.Settings{Timeout: cfg.Fetch.Timeout})
	defer outside.Close()
	index, err := paperIndex(cfg, outside, fetch.NewLocalPace())
	if err != nil {
		return []checkup{failure("paper_search", err)}
	}
	return askIndexes(ctx, index)
}

// askIndexes makes a checkup of the answer of each index.
func askIndexes(ctx context.Context, index *papers.Search) []checkup {
	var out []checkup
	for _, answer := range index.Ask(ctx, papers.ParseQuery("electron", 1)) {
		label := papers.Label(answer.Provider)
		c := checkup{Name: "paper_search", Result: "ok",
			Text: fmt.Sprintf("%s answers in %s", label, answer.Took.Round(time.Millisecond))}
		switch {
		case answer.Err != nil:
			c = failure(c.Name, answer.Err)
			c.Hint = indexHint(answer.Provider, answer.Err)
		case len(answer.Papers) == 0:
			c.Result, c.Text = "note", label+" answers, but has no paper on electrons: its form may have changed"
		}
		out = append(out, c)
	}
	return out
}

// indexHint says what to do about an index that does not answer.
func indexHint(provider string, err error) string {
	key := map[string]string{papers.OpenAlex: "OPENALEX_API_KEY",
		papers.SemanticScholar: "SEMANTIC_SCHOLAR_API_KEY"}[provider]
	var status *fetch.StatusError
	switch {
	case errors.As(err, &status) && key != "" && status.Status < http.StatusInternalServerError:
		return "Check " + key + ", or leave this index out of paper_search.providers."
	case errors.As(err, &status):
		return "Try again later. Searches go on with the other indexes."
	}
	return "Check this machine's way to the internet, or leave this index out of paper_search.providers."
}
