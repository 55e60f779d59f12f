package config

import (
	"fmt"
	"net/url"
	"strings"
)

// Embedding configures the vectors of knowledge bases, which come from an embedding model on an OpenAI-compatible
// server. Complete after Load.
type Embedding struct {
	Model   string // empty: none, knowledge bases support word search only
	BaseURL URL    // empty: OpenAI's server
	APIKey  Secret // empty: no key is sent
}

// Enabled reports whether an embedding model is configured.
func (e Embedding) Enabled() bool { return e.Model != "" }

const openAIKey = "OPENAI_API_KEY"

// completeEmbedding fills in a missing key, but only with a key meant for the same server.
func completeEmbedding(c *Config) {
	completeKey(c, "embedding.api_key", c.Embedding.BaseURL, &c.Embedding.APIKey)
}

const openAIServer = "https://api.openai.com"

// serverOf returns scheme, host and port. Different ports of one host count as different servers.
func serverOf(u URL) string {
	if u == (URL{}) {
		return openAIServer
	}
	parsed, err := url.Parse(u.Reveal())
	if err != nil {
		return ""
	}
	server := strings.ToLower(parsed.Scheme + "://" + parsed.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[strings.ToLower(parsed.Scheme)]; port != "" {
		server = strings.TrimSuffix(server, port)
	}
	return server
}

// checkEmbedding checks the combination of these settings. known: problems of individual settings.
func checkEmbedding(c Config, known Problems) Problems {
	e := c.Embedding
	asksOpenAI := e.Enabled() && serverOf(e.BaseURL) == openAIServer
	if asksOpenAI && e.APIKey == (Secret{}) &&
		!known.about("embedding.api_key", "embedding.base_url", "llm.api_key", "llm.base_url") {
		return Problems{{Key: "embedding.model", Value: clip(e.Model), Source: c.source("embedding.model"),
			Reason: "it needs a key or a server: set EMBEDDING_API_KEY, or EMBEDDING_BASE_URL for a server " +
				"that needs no key"}}
	}
	return nil
}

// remarkEmbedding returns notices about settings that are valid but probably unintended.
func remarkEmbedding(c Config) []string {
	if c.Embedding.Enabled() {
		return nil
	}
	var notices []string
	for _, path := range []string{"embedding.base_url", "embedding.api_key"} {
		if c.Given(path) && c.source(path) != "environment "+openAIKey {
			notices = append(notices,
				fmt.Sprintf("%s is set (%s) but EMBEDDING_MODEL is not: knowledge bases are searched by words; set "+
					"EMBEDDING_MODEL=...", path, c.source(path)))
		}
	}
	return notices
}
