// Package sources says what a source is worth knowing as: its genre and its domain, and which sources are copies of one
// text. It looks at addresses, at what pages say of themselves and at texts, and asks no model.
//
// It does not say what is true: that sources agree or disagree is for package evidence. Entry points: Describe for one
// source, Families for those of a run.
package sources

import (
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"

	"nightdesk/topicqueue"
)

// Describe returns s with genre and domain, as far as they can be told. about: what the page says of itself, may be
// empty. A genre that is known already stays. Never fails.
func Describe(s topicqueue.Source, about Page) topicqueue.Source {
	if s.Domain == "" {
		s.Domain = Domain(s.URL)
	}
	if s.Genre == "" {
		s.Genre = genre(s, about)
	}
	return s
}

// Domain returns the registrable domain of an absolute URL, lower case: example.co.uk of http://www.example.co.uk/x.
// Hosts below which anybody can have a name (github.io) count like top-level domains. An address or a host without a
// known suffix is returned as it is; what is no absolute http(s) URL has none.
func Domain(address string) string {
	host := hostOf(address)
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}

// hostOf returns the host of an absolute http(s) URL, lower case and without port; else "".
func hostOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}
