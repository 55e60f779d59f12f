package wiring

import (
	"fmt"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/papers"
)

// NewPaperIndex returns the client for paper_search.
func NewPaperIndex(cfg config.Config, outside papers.Fetcher, pace fetch.Pace) (*papers.Search, error) {
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
