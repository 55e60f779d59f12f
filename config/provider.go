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

// lacksKey returns why a model cannot be called if its key is missing, or "" if it can.
func (e endpoint) lacksKey() string {
	p := providers[e.provider]
	if e.model == "" || *e.key != (Secret{}) || p.keyless || serverOf(*e.url) != serverOf(NewURL(p.own)) {
		return ""
	}
	env := strings.ToUpper(strings.ReplaceAll(e.group, ".", "_"))
	return fmt.Sprintf("it needs a key or a server: set %s_API_KEY or %s, or %s_BASE_URL for a server "+
		"that needs no key", env, p.key, env)
}
