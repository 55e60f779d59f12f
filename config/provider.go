package config

import (
	"fmt"
	"net"
	"slices"
	"strings"
)

// Protocols of model servers.
const (
	providerOpenAI    = "openai" // every server that speaks OpenAI's
	providerAnthropic = "anthropic"
	providerOllama    = "ollama" // its own, not the one that it shares with OpenAI
)

// provider is what other programs agree on about the servers of one protocol.
type provider struct {
	key     string                   // environment variable with a key; empty: none
	server  string                   // environment variable with an address; empty: none
	address func(text string) string // makes a URL of what that variable holds; nil: it is one
	own     string                   // address where none is given; empty: OpenAI's, which needs no word
	keyless bool                     // its own server needs no key
}

var providers = map[string]provider{
	providerOpenAI:    {key: openAIKey, server: "OPENAI_BASE_URL"},
	providerAnthropic: {key: "ANTHROPIC_API_KEY", own: "https://api.anthropic.com/v1"},
	providerOllama:    {server: "OLLAMA_HOST", address: ollamaAddress, own: "http://127.0.0.1:11434", keyless: true},
}

// ownHost returns host and port of the provider's own server.
func (p provider) ownHost() string {
	if p.own == "" {
		return NewURL(openAIServer).Host()
	}
	return NewURL(p.own).Host()
}

// ollamaAddress reads what Ollama itself accepts: a host, a port behind a colon, both, or a URL. An address that means
// all of a machine is where the server listens: from here it is this machine.
func ollamaAddress(text string) string {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(text), "://")
	port := map[string]string{"http": "80", "https": "443"}[scheme]
	if !ok {
		scheme, rest, port = "http", scheme, "11434"
	}
	hostport, path, _ := strings.Cut(rest, "/")
	host, given, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	} else if given != "" {
		port = given
	}
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	return strings.TrimRight(scheme+"://"+net.JoinHostPort(host, port)+"/"+path, "/")
}

// ofOneProvider are the settings of a model that mean nothing to another provider: a role with a provider of its own
// does not take them from the main model.
var ofOneProvider = []string{"model", "base_url", "api_key", "transport", "token_field"}

// foreign reports whether a setting of a role is one that the main model's cannot stand in for.
func (l *LLM) foreign(path string) bool {
	for _, r := range roles {
		if parent(path) == "llm."+r.name {
			return r.model(l).Provider != l.Main.Provider && slices.Contains(ofOneProvider, lastKey(path))
		}
	}
	return false
}

// commonVariables gives models without key or address those of the variables that other programs use. Any setting of
// our own is stronger.
func commonVariables(c *Config, byPath map[string]field, getenv func(string) string,
	apply func(f field, text, source string)) {
	honour := func(path, variable string, address func(string) string) {
		if variable == "" || c.Given(path) {
			return
		}
		if text := getenv(variable); text != "" {
			if address != nil {
				text = address(text)
			}
			apply(byPath[path], text, "environment "+variable)
		}
	}
	each := func(prefix string, m *Model) {
		p := providers[m.Provider]
		honour(prefix+".api_key", p.key, nil)
		honour(prefix+".base_url", p.server, p.address)
	}
	each("llm", &c.LLM.Main)
	for _, r := range roles {
		m := r.model(&c.LLM)
		if !c.Given("llm." + r.name + ".provider") {
			m.Provider = c.LLM.Main.Provider
		}
		if m.Provider != c.LLM.Main.Provider {
			each("llm."+r.name, m)
		}
	}
}

// ownAddresses gives models without an address the one of their provider, so that no key is taken to be OpenAI's. An
// embedding model on the same Ollama is reached by the protocol that it shares with OpenAI.
func ownAddresses(c *Config) {
	each := func(prefix string, m *Model) {
		if own := providers[m.Provider].own; own != "" && m.BaseURL == (URL{}) {
			m.BaseURL = NewURL(own)
			c.origins[prefix+".base_url"] = origin{given: c.Given(prefix + ".base_url"), text: prefix + ".provider"}
		}
	}
	each("llm", &c.LLM.Main)
	for _, r := range roles {
		each("llm."+r.name, r.model(&c.LLM))
	}
	if path := "embedding.base_url"; c.LLM.Main.Provider == providerOllama && !c.Given(path) {
		c.Embedding.BaseURL = NewURL(strings.TrimSuffix(strings.TrimRight(c.LLM.Main.BaseURL.Reveal(), "/"), "/v1") + "/v1")
		c.origins[path] = origin{text: "llm.base_url"}
	}
}

// remarkKey says that a key from the variable of other programs goes to another server than its own.
func remarkKey(c Config, prefix string, m Model) []string {
	server, from, p := m.BaseURL.Host(), c.source(prefix+".base_url"), providers[m.Provider]
	if c.source(prefix+".api_key") != "environment "+p.key || server == "" || server == p.ownHost() ||
		from == "environment "+p.server {
		return nil
	}
	return []string{fmt.Sprintf("%s is sent to %s (%s): set %s_API_KEY to send another key", p.key, server, from,
		variable(prefix))}
}

// variable returns how the environment variables of a model begin.
func variable(prefix string) string { return strings.ToUpper(strings.ReplaceAll(prefix, ".", "_")) }

// lacksKey says what is missing when a model would be asked at its provider's own server without a key; empty: nothing.
func lacksKey(m Model, prefix string) string {
	p := providers[m.Provider]
	if m.Name == "" || m.APIKey != (Secret{}) || p.keyless || m.BaseURL != NewURL(p.own) {
		return ""
	}
	env := variable(prefix)
	return fmt.Sprintf("there is neither a key nor a server for it: set %s_API_KEY or %s, or %s_BASE_URL for a server "+
		"that needs no key", env, p.key, env)
}
