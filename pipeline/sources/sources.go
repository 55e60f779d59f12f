// Package sources classifies sources: it determines genre and domain, and which sources are copies of one text. It uses
// addresses, page metadata and texts, but no model.
//
// It does not judge truth; package evidence handles agreement and disagreement between sources. Entry points are
// Describe for one source and Families for the sources of a run.
package sources

import (
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"

	"nightdesk/topicqueue"
)

// Describe returns s with genre and domain, if they can be determined. about is the page's metadata and may be empty.
// A genre or domain that is already set is kept. Never fails.
func Describe(s topicqueue.Source, about Page) topicqueue.Source {
	if s.Domain == "" {
		s.Domain = Domain(s.URL)
	}
	if s.Genre == "" {
		s.Genre = genre(s, about)
	}
	return s
}

// Domain returns the registrable domain of an absolute URL in lower case: example.co.uk for http://www.example.co.uk/x.
// Hosts under which anyone can register a name (github.io) count as top-level domains. IP addresses and hosts without
// a known suffix are returned unchanged. If address is not an absolute http(s) URL, Domain returns "".
func Domain(address string) string {
	host := hostOf(address)
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}

// hostOf returns the host of an absolute http(s) URL in lower case and without port, or "" for other addresses.
func hostOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}
