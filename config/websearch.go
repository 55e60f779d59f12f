package config

import (
	"slices"
	"strings"
)

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
