package wiring

import (
	"net"
	"net/url"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/websearch"
)

// NewSearchEngines returns the search engines of the web that are set up, in the order in which they are asked. pace:
// what all workers share. outside: the way to those that are at their own address. Each of the others is a service of
// the operator and has a way of its own, which leads nowhere else but to what is public.
func NewSearchEngines(cfg config.Config, pace fetch.Pace, outside *fetch.Client) ([]*websearch.Provider, error) {
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
