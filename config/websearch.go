package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// WebSearch configures the web search engines. An engine is available if its key is set, or its address for SearXNG.
type WebSearch struct {
	SearXNGURL   URL
	TavilyAPIKey Secret
	BraveAPIKey  Secret
	SerperAPIKey Secret
	ExaAPIKey    Secret
	Providers    string // names in the order of use; empty: all available ones
	PerSecond    string // NAME=REQUESTS, ...
	BaseURLs     URL    // NAME=URL, ...
}

// SearchEngine is an available search engine.
type SearchEngine struct {
	Name      string
	BaseURL   URL     // empty: the engine's default address
	Key       Secret  // SearXNG has none
	PerSecond float64 // requests of all workers together; 0: limit of the engine's smallest plan
}

// searchEngine is a known search engine with its setting: a key, or an address for an engine of the operator.
type searchEngine struct {
	name string
	doc  string  // of the setting
	key  *Secret // NAME_api_key; nil: url
	url  *URL    // NAME_url
}

// searchEngines returns all known search engines in the order of use, with their settings in w. Package websearch has
// a list with the same names.
func searchEngines(w *WebSearch) []searchEngine {
	return []searchEngine{
		{name: "searxng", url: &w.SearXNGURL,
			doc: "start page of your own SearXNG search engine, which must answer in JSON (search.formats)"},
		{name: "tavily", key: &w.TavilyAPIKey, doc: "key of the search engine Tavily, best set in the environment"},
		{name: "brave", key: &w.BraveAPIKey, doc: "key of the search engine Brave"},
		{name: "serper", key: &w.SerperAPIKey, doc: "key of the search engine Serper, which asks Google"},
		{name: "exa", key: &w.ExaAPIKey, doc: "key of the search engine Exa"},
	}
}

// setting returns the setting of the engine. Its environment variable has no NIGHTDESK_ prefix, because other programs
// use it too.
func (e searchEngine) setting() field {
	var f field
	if e.url != nil {
		f = setting(e.name+"_url", "", "", e.doc,
			address(e.url, "http:// or https://, such as http://127.0.0.1:8888", httpAddress))
	} else {
		f = setting(e.name+"_api_key", "", "", e.doc, secret(e.key))
	}
	f.Env = strings.ToUpper(f.Path)
	return f
}

func (e searchEngine) there() bool {
	return e.key != nil && *e.key != (Secret{}) || e.url != nil && *e.url != (URL{})
}

// SearchEngineNames returns the names of all search engines.
func SearchEngineNames() []string {
	var names []string
	for _, e := range searchEngines(new(WebSearch)) {
		names = append(names, e.name)
	}
	return names
}

// SearchEngineKeys returns the environment variables for the keys of the search engines, in the order of use.
func SearchEngineKeys() []string {
	var variables []string
	for _, e := range searchEngines(new(WebSearch)) {
		if e.key != nil {
			variables = append(variables, e.setting().Env)
		}
	}
	return variables
}

// Engines returns the available search engines in the order of use.
func (w WebSearch) Engines() []SearchEngine {
	rates, _ := pairs(w.PerSecond, requestRate)
	addresses, _ := pairs(w.BaseURLs.Reveal(), httpAddress)
	all := searchEngines(&w)
	order, _ := engineNames(w.Providers)
	if len(order) == 0 {
		order = SearchEngineNames()
	}
	var out []SearchEngine
	for _, name := range order {
		i := slices.IndexFunc(all, func(e searchEngine) bool { return e.name == name })
		if i < 0 || !all[i].there() {
			continue
		}
		e := SearchEngine{Name: name}
		if all[i].url != nil {
			e.BaseURL = *all[i].url
		} else {
			e.Key = *all[i].key
		}
		if address := addresses[name]; address != "" {
			e.BaseURL = NewURL(address)
		}
		e.PerSecond, _ = strconv.ParseFloat(rates[name], 64)
		out = append(out, e)
	}
	return out
}

func webSearchTable(w *WebSearch) []field {
	var fields []field
	for _, e := range searchEngines(w) {
		fields = append(fields, e.setting())
	}
	return append(fields,
		setting("web_search.providers", "", "",
			"search engines in the order of use, such as brave, searxng; the next is used when one fails; empty: "+
				"all that are configured",
			text(&w.Providers, "names with commas between them: "+strings.Join(SearchEngineNames(), ", "), func(s string) error {
				_, err := engineNames(s)
				return err
			})),
		setting("web_search.per_second", "", "",
			"requests per second across all workers, if your plan allows more than the smallest one: "+
				"NAME=REQUESTS, ..., such as brave=20",
			text(&w.PerSecond, "NAME=REQUESTS, ... such as brave=20, tavily=1.5", func(s string) error {
				_, err := pairs(s, requestRate)
				return err
			})),
		setting("web_search.base_urls", "", "", "addresses of search engines, if not the standard ones: NAME=URL, ...",
			address(&w.BaseURLs, "NAME=URL, ... such as tavily=https://gateway.internal/tavily", func(s string) error {
				_, err := pairs(s, httpAddress)
				return err
			})))
}

// engineNames parses comma-separated names and removes duplicates.
func engineNames(s string) ([]string, error) {
	var names []string
	for _, name := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.Contains(SearchEngineNames(), name) {
			return nil, fmt.Errorf("must be comma-separated names: %s", strings.Join(SearchEngineNames(), ", "))
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// pairs parses NAME=VALUE, ... with names of search engines. The error contains no value.
func pairs(s string, check func(string) error) (map[string]string, error) {
	out := map[string]string{}
	for _, pair := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || !slices.Contains(SearchEngineNames(), name) {
			return nil, fmt.Errorf("must be NAME=VALUE, ... with the names %s", strings.Join(SearchEngineNames(), ", "))
		}
		if err := check(value); err != nil {
			return nil, fmt.Errorf("%s %w", name, err)
		}
		out[name] = value
	}
	return out, nil
}

func requestRate(s string) error {
	if n, err := strconv.ParseFloat(s, 64); err != nil || !(n >= 0.001 && n <= 1000) {
		return errors.New("must be from 0.001 to 1000 requests a second")
	}
	return nil
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

// checkWebSearch checks the combination of these settings.
func checkWebSearch(c Config) (problems Problems) {
	names, _ := engineNames(c.WebSearch.Providers)
	for _, e := range searchEngines(&c.WebSearch) {
		if slices.Contains(names, e.name) && !e.there() {
			problems = append(problems, Problem{Key: "web_search.providers", Value: clip(c.WebSearch.Providers),
				Source: c.source("web_search.providers"),
				Reason: fmt.Sprintf("%s is not configured: set %s", e.name, e.setting().Env)})
		}
	}
	return problems
}
