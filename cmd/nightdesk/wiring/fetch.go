package wiring

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/papers"
	"nightdesk/pipeline/tools/websearch"
)

// NewFetcher returns the HTTP client for the public web. pace: the rate limits shared by all workers; nil for a
// stand-alone command. own: addresses allowed in addition to fetch.allow.
func NewFetcher(cfg config.Config, pace fetch.Pace, own ...string) (*fetch.Client, error) {
	allow := strings.FieldsFunc(cfg.Fetch.Allow, func(r rune) bool { return r == ',' || r == ' ' })
	for _, entry := range allow {
		if err := fetch.CheckAllow(entry); err != nil {
			return nil, view.Usage(fmt.Errorf("fetch.allow: %w", err))
		}
	}
	return fetch.New(fetch.Settings{Allow: append(allow, own...), Own: allow, Pace: pace, Idle: idleConnections(cfg)}), nil
}

// NewDownloader returns the downloader for the web pages among the roots of a knowledge base. The hosts of these
// roots are allowed, wherever they are. Redirects must lead to public or allowed hosts, as usual.
func NewDownloader(cfg config.Config, roots []string) (knowledge.Downloader, error) {
	var own []string
	for _, root := range roots {
		if knowledge.IsURL(root) {
			own = append(own, hostPorts(root)...)
		}
	}
	outside, err := NewFetcher(cfg, nil, own...)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, address string) (knowledge.Page, error) {
		r, err := outside.Do(ctx, fetch.Request{
			URL: address, Robots: true,
			Accept: []string{"text/html", "text/markdown", "text/plain", "application/pdf", "*/*;q=0.5"},
		})
		var status *fetch.StatusError
		var refused *fetch.RefusedError
		switch {
		case errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone):
			return knowledge.Page{}, fmt.Errorf("%w: %w", err, extract.ErrNoPage)
		case errors.As(err, &refused) && refused.Reason == fetch.RefusedAddress:
			return knowledge.Page{}, fmt.Errorf("%w; if it is your own server, add its host to fetch.allow", err)
		case err != nil:
			return knowledge.Page{}, err
		}
		p := knowledge.Page{Body: r.Body, Type: r.Header.Get("Content-Type")}
		if u, err := url.Parse(r.URL); err == nil {
			p.Path = u.Path
		}
		if at, err := http.ParseTime(r.Header.Get("Last-Modified")); err == nil {
			p.Modified = at
		}
		return p, nil
	}, nil
}

// hostPorts returns the allowed dial addresses for a page named by the user: its host and port. Without a port, they
// are ports 80 and 443, because sites redirect between them.
func hostPorts(address string) []string {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil
	case u.Port() != "":
		return []string{net.JoinHostPort(u.Hostname(), u.Port())}
	}
	return []string{net.JoinHostPort(u.Hostname(), "80"), net.JoinHostPort(u.Hostname(), "443")}
}

// NewSearchEngines returns the configured web search engines in the order of use. pace: the rate limits shared by all
// workers. outside: the client for engines at their default address. An engine with a configured address gets its own
// client, which can reach only that address and public ones.
func NewSearchEngines(cfg config.Config, pace fetch.Pace, outside *fetch.Client) ([]*websearch.Provider, error) {
	var engines []*websearch.Provider
	for _, e := range cfg.WebSearch.Engines() {
		s := websearch.Settings{Name: e.Name, BaseURL: e.BaseURL.Reveal(), Key: e.Key.Reveal(), Outside: outside, Pace: pace}
		if s.BaseURL != "" {
			s.Outside = fetch.New(fetch.Settings{Allow: hostPorts(s.BaseURL)})
		}
		engine, err := websearch.New(s)
		if err != nil {
			return nil, view.Usage(err)
		}
		engines = append(engines, engine)
	}
	return engines, nil
}

// NewPaperIndex returns the client for paper_search.
func NewPaperIndex(cfg config.Config, outside fetch.Doer, pace fetch.Pace) (*papers.Search, error) {
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
