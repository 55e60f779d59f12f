package config

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Serve configures the web pages.
type Serve struct {
	Listen    string // host:port; port 0: any free port
	Token     Secret // required for full access; empty: no token, this machine only
	ReadToken Secret // allows only reading; empty: no such token
}

// checkServe checks the combination of these settings.
func checkServe(c Config) Problems {
	s, why := c.Serve, ""
	switch {
	case s.ReadToken == (Secret{}):
		return nil
	case s.Token == (Secret{}):
		why = "it needs serve.token: without it, everyone on this machine has full access"
	case s.Token == s.ReadToken:
		why = "it must differ from serve.token, which gives full access"
	default:
		return nil
	}
	return Problems{{Key: "serve.read_token", Source: c.source("serve.read_token"), Reason: why}}
}

// Webhook configures the receivers of events.
type Webhook struct {
	URL    Secret // addresses, separated by white space or commas; their paths are often keys; empty: none
	Secret Secret // whsec_..., one for all addresses or one for each
}

// Addresses returns the receivers' addresses, in order.
func (w Webhook) Addresses() []string { return addresses(w.URL.Reveal()) }

// Secrets returns the signing secrets: one per address, or one for all.
func (w Webhook) Secrets() []string { return fields(w.Secret.Reveal()) }

// nextAddress matches the separator between addresses. An address may itself contain a comma.
var nextAddress = regexp.MustCompile(`[,\s]+(https?://)`)

func addresses(list string) []string {
	return strings.Fields(nextAddress.ReplaceAllString(list, " $1"))
}

func httpAddresses(list string) error {
	for _, a := range addresses(list) {
		if err := httpAddress(a); err != nil {
			return err
		}
	}
	return nil
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// Mail configures the mailing of digests.
type Mail struct {
	Server URL // empty: no mails
	From   string
	To     string // comma-separated addresses
}

// Retention configures how much `purge` keeps; 0 = no limit.
type Retention struct {
	Days, Count int // of runs, and of versions of memories and knowledge bases
}

// Upper limits of the settings; 36,500 days are about a century.
const maxDays, maxKept = 36_500, 100_000_000

const smtpAllowed = "smtp://user:password@host:587 or smtps://user:password@host:465"

func smtpAddress(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" {
		return errors.New("must be " + smtpAllowed)
	}
	return nil
}

// secretAddress is an address that is never shown. check: see address.
func secretAddress(p *Secret, allowed string, check func(string) error) value {
	v := secret(p)
	set := v.set
	v.allowed = allowed
	v.set = func(s string) error {
		if s != "" {
			if err := check(s); err != nil {
				return err
			}
		}
		return set(s)
	}
	return v
}

// PaperSearch holds the keys of the indexes of the tool paper_search that want one.
type PaperSearch struct {
	OpenAlexKey        Secret
	SemanticScholarKey Secret
}

// Names returns the indexes to query. It omits OpenAlex and Semantic Scholar without a key, because they reject nearly
// all such requests.
func (p PaperSearch) Names() []string {
	names := []string{"arxiv", "crossref", "europepmc"}
	if p.OpenAlexKey != (Secret{}) {
		names = append(names, "openalex")
	}
	if p.SemanticScholarKey != (Secret{}) {
		names = append(names, "semanticscholar")
	}
	return names
}

// WebSearch configures the web search engines. An engine is available if its key is set, or its address for SearXNG.
type WebSearch struct {
	SearXNGURL   URL
	TavilyAPIKey Secret
	BraveAPIKey  Secret
	SerperAPIKey Secret
	ExaAPIKey    Secret
}

// SearchEngine is an available search engine.
type SearchEngine struct {
	Name    string
	BaseURL URL    // empty: the engine's default address
	Key     Secret // SearXNG has none
}

// Engines returns the available search engines in the order of use. Package websearch has a list with the same names.
func (w WebSearch) Engines() []SearchEngine {
	return slices.DeleteFunc([]SearchEngine{
		{Name: "searxng", BaseURL: w.SearXNGURL},
		{Name: "tavily", Key: w.TavilyAPIKey},
		{Name: "brave", Key: w.BraveAPIKey},
		{Name: "serper", Key: w.SerperAPIKey},
		{Name: "exa", Key: w.ExaAPIKey},
	}, func(e SearchEngine) bool { return e.BaseURL == (URL{}) && e.Key == (Secret{}) })
}

// SearchEngineKeys returns the environment variables for the keys of the search engines, in the order of use.
func SearchEngineKeys() []string {
	var variables []string
	for _, s := range Settings() {
		if strings.HasSuffix(s.Path, "_api_key") {
			variables = append(variables, s.Env)
		}
	}
	return variables
}

// completeWebSearch enables open_page if web search is available, unless the user has set it. Search excerpts alone
// are thin evidence.
func completeWebSearch(c *Config) {
	const path = "researching.enable_open_page"
	if !c.Given(path) && c.searchesWeb() {
		c.Researching.EnableOpenPage = true
		c.origins[path] = origin{text: "researching.enable_web_search"}
	}
}

// searchesWeb reports whether runs can use web_search.
func (c Config) searchesWeb() bool {
	return c.Researching.EnableWebSearch && len(c.WebSearch.Engines()) > 0
}
