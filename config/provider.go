package config

import (
	"fmt"
	"net"
	"strings"
)

// Protocols of model servers.
const (
	providerOpenAI    = "openai" // all servers with OpenAI's protocol
	providerAnthropic = "anthropic"
	providerOllama    = "ollama" // Ollama's native protocol, not its OpenAI-compatible one
)

// provider holds the conventions for the servers of one protocol.
type provider struct {
	key     string                   // environment variable with the key; empty: none
	server  string                   // environment variable with the address; empty: none
	address func(text string) string // converts the value of that variable to a URL; nil: it is a URL
	own     string                   // default address; empty: OpenAI's, which clients use by default
	keyless bool                     // the default server needs no key
}

var providers = map[string]provider{
	providerOpenAI:    {key: openAIKey, server: "OPENAI_BASE_URL"},
	providerAnthropic: {key: "ANTHROPIC_API_KEY", own: "https://api.anthropic.com/v1"},
	providerOllama:    {server: "OLLAMA_HOST", address: ollamaAddress, own: "http://127.0.0.1:11434", keyless: true},
}

// ownHost returns host and port of the provider's default server.
func (p provider) ownHost() string {
	if p.own == "" {
		return NewURL(openAIServer).Host()
	}
	return NewURL(p.own).Host()
}

// ollamaAddress converts a value of OLLAMA_HOST to a URL. It accepts what Ollama accepts: a host, a port after a
// colon, both, or a URL. A wildcard address becomes the loopback address.
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

// foreign reports whether a role's setting must not be inherited from the main model: its provider is another one.
func (l *LLM) foreign(path string) bool {
	r, ok := roleOf(path)
	return ok && lastKey(path) != "provider" && r.model(l).Provider != l.Main.Provider
}

// commonVariables sets missing keys and addresses from the environment variables of other programs. Our own settings
// take precedence.
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

// ownAddresses sets missing addresses to the provider's default, so that no key is mistaken for OpenAI's. An
// embedding model on the same Ollama uses Ollama's OpenAI-compatible address.
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

// remarkKey returns a notice if a key from another program's variable is sent to a server other than its own.
func remarkKey(c Config, prefix string, m Model) []string {
	server, from, p := m.BaseURL.Host(), c.source(prefix+".base_url"), providers[m.Provider]
	if c.source(prefix+".api_key") != "environment "+p.key || server == "" || server == p.ownHost() ||
		from == "environment "+p.server {
		return nil
	}
	return []string{fmt.Sprintf("%s is sent to %s (%s): set %s_API_KEY to send another key", p.key, server, from,
		variable(prefix))}
}

// variable returns the prefix of a model's environment variables.
func variable(prefix string) string { return strings.ToUpper(strings.ReplaceAll(prefix, ".", "_")) }

// lacksKey returns why a model cannot be called if its key is missing, or "" if it can.
func lacksKey(m Model, prefix string) string {
	p := providers[m.Provider]
	if m.Name == "" || m.APIKey != (Secret{}) || p.keyless || m.BaseURL != NewURL(p.own) {
		return ""
	}
	env := variable(prefix)
	return fmt.Sprintf("it needs a key or a server: set %s_API_KEY or %s, or %s_BASE_URL for a server "+
		"that needs no key", env, p.key, env)
}
