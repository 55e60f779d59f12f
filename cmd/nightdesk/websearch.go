package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/websearch"
)

// searchEngines returns the search engines of the web that are set up, in the order in which they are asked. pace:
// what all workers share. outside: the way to those that are at their own address. Each of the others is a service of
// the operator and has a way of its own, which leads nowhere else but to what is public.
func searchEngines(cfg config.Config, pace fetch.Pace, outside *fetch.Client) ([]*websearch.Provider, error) {
	var engines []*websearch.Provider
	for _, e := range cfg.WebSearch.Engines() {
		s := websearch.Settings{Name: e.Name, BaseURL: e.BaseURL.Reveal(), Key: e.Key.Reveal(), Outside: outside, Pace: pace}
		if e.PerSecond > 0 {
			s.Every = time.Duration(float64(time.Second) / e.PerSecond)
		}
		if s.BaseURL != "" {
			s.Outside = fetch.New(fetch.Settings{Allow: []string{hostPort(s.BaseURL)}, Timeout: cfg.Fetch.Timeout})
		}
		engine, err := websearch.New(s)
		if err != nil {
			return nil, view.Usage(err)
		}
		engines = append(engines, engine)
	}
	return engines, nil
}

// hostPort returns host and port of an address that has passed the check of settings.
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

// checkWebSearch finds out what can be known of search engines without a search, which may cost.
func checkWebSearch(ctx context.Context, cfg config.Config, _ *view.Console) []checkup {
	const name = "web search"
	engines, err := searchEngines(cfg, nil, fetch.New(fetch.Settings{}))
	if err != nil {
		return []checkup{failure(name, err)}
	}
	if len(engines) == 0 {
		return []checkup{{Name: name, Result: "note", Text: "no search engine is set up: only knowledge bases are searched",
			Hint: "Set SEARXNG_URL for a SearXNG of your own, or TAVILY_API_KEY, BRAVE_API_KEY, SERPER_API_KEY or EXA_API_KEY."}}
	}
	const startIt = "Start it, or correct its address (SEARXNG_URL, web_search.base_urls)."
	var out []checkup
	for _, e := range engines {
		c := checkup{Name: name, Result: "ok", Text: e.Name() +
			": the key is set; only a search, which may cost, would show whether it is accepted"}
		known, err := e.Reach(ctx)
		var reason *websearch.Error
		switch {
		case errors.As(err, &reason):
			c = checkup{Name: name, Result: "failed", Text: fmt.Sprintf("%s: %v", e.Name(), reason.Err),
				Hint: cmp.Or(reason.Advice, startIt)}
		case err != nil:
			c = checkup{Name: name, Result: "failed", Text: fmt.Sprintf("%s: %v", e.Name(), err), Hint: startIt}
		case known:
			c.Text = e.Name() + ": it is there and answers in JSON"
		}
		out = append(out, c)
	}
	if !cfg.Researching.EnableWebSearch {
		out = append(out, checkup{Name: name, Result: "note",
			Text: "researching.enable_web_search is false: they are not asked"})
	}
	return out
}
