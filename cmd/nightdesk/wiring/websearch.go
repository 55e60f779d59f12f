package wiring

import (
	"net"
	"net/url"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/papers"
	"nightdesk/pipeline/tools/websearch"
)

// NewSearchEngines returns the configured web search engines in the order of use. pace: the rate limits shared by all
// workers. outside: the client for engines at their default address. An engine with a configured address gets its own
// client, which can reach only that address and public ones.
func NewSearchEngines(cfg config.Config, pace fetch.Pace, outside *fetch.Client) ([]*websearch.Provider, error) {
	var engines []*websearch.Provider
	for _, e := range cfg.WebSearch.Engines() {
		s := websearch.Settings{Name: e.Name, BaseURL: e.BaseURL.Reveal(), Key: e.Key.Reveal(), Outside: outside, Pace: pace}
		if s.BaseURL != "" {
			s.Outside = fetch.New(fetch.Settings{Allow: []string{hostPort(s.BaseURL)}})
		}
		engine, err := websearch.New(s)
		if err != nil {
			return nil, view.Usage(err)
		}
		engines = append(engines, engine)
	}
	return engines, nil
}

// hostPort returns the host and port of a validated address.
func hostPort(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// NewPaperIndex returns the client for paper_search.
func NewPaperIndex(cfg config.Config, outside papers.Fetcher, pace fetch.Pace) (*papers.Search, error) {
	p := cfg.PaperSearch
	index, err := papers.New(papers.Settings{
		Providers: p.Names(), OpenAlexKey: p.OpenAlexKey.Reveal(), SemanticScholarKey: p.SemanticScholarKey.Reveal(),
		Outside: outside, Pace: pace,
	})
	if err != nil {
		return nil, view.Usage(err)
	}
	return index, nil
}
