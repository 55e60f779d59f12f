package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"nightdesk/pipeline/llm/wire"
	"nightdesk/topicqueue"
)

// Transport is a method of requesting an answer that fits a JSON schema.
type Transport string

// The transports, from the strictest to the one that every server supports.
const (
	TransportSchema Transport = "json_schema" // response_format json_schema, strict
	TransportTool   Transport = "tool"        // a forced tool call whose arguments are the answer
	TransportPrompt Transport = "prompt"      // the prompt asks for JSON
)

// Request fields for the token limit. Which one a server knows is determined once per server and model.
const (
	TokenFieldCompletion = "max_completion_tokens"
	TokenFieldLegacy     = "max_tokens"
)

// RoleSettings are the settings of a role's model.
type RoleSettings struct {
	Provider      Provider // empty: ProviderOpenAI
	Model         string
	BaseURL       string // without /chat/completions and the like; empty: the default of Provider
	APIKey        string // empty: none is sent
	Temperature   float64
	MaxTokens     int           // of one answer; 0: the server's default, or 4,096 for Anthropic, which has none
	ContextTokens int           // the model's window; 0: unknown, no check
	Reasoning     bool          // the model reasons by itself, so its answers get no think field
	Timeout       time.Duration // per try, until the last byte of the answer; 0: 5 minutes
	MaxTries      int           // per call; 0: 10
}

// Hear returns a function that receives an answer piece by piece while it is written; nil if there is no live reader.
// It is called before each try; a second try starts the text again. An empty piece ends the text.
type Hear func(ctx context.Context, at Position) func(piece string)

// Settings configures a Client.
type Settings struct {
	Roles    map[Role]RoleSettings
	Governor Governor              // nil: calls are not delayed, and only the number of tries is limited
	Limits   topicqueue.CallLimits // of each provider key, for the governor
	Hear     Hear                  // nil: answers arrive whole
	// nil: a default client. It need not block private addresses, because the operator chose the server.
	HTTPClient *http.Client
}

const (
	defaultTimeout  = 5 * time.Minute
	defaultMaxTries = 10
)

// withDefaults fills in empty fields. Its error lists all invalid ones.
func (s RoleSettings) withDefaults() (RoleSettings, error) {
	if s.Provider == "" {
		s.Provider = ProviderOpenAI
	}
	p, known := protocols[s.Provider]
	if !known {
		return s, fmt.Errorf("unknown provider %q; use %s, %s or %s", s.Provider, ProviderOpenAI, ProviderAnthropic,
			ProviderOllama)
	}
	s.BaseURL = strings.TrimRight(strings.TrimSpace(cmp.Or(s.BaseURL, p.baseURL)), "/")
	for _, slip := range p.slips {
		s.BaseURL = strings.TrimSuffix(s.BaseURL, slip)
	}
	if u, err := url.Parse(s.BaseURL); err == nil && s.Provider == ProviderAnthropic && u.Host != "" && u.Path == "" {
		s.BaseURL += "/v1" // Anthropic's own clients use a base URL without a path
	}
	s.APIKey = strings.TrimSpace(s.APIKey)
	if s.Timeout == 0 {
		s.Timeout = defaultTimeout
	}
	if s.MaxTries == 0 {
		s.MaxTries = defaultMaxTries
	}
	if s.Provider == ProviderAnthropic && s.MaxTokens == 0 {
		s.MaxTokens = anthropicMaxTokens
	}
	var wrong []error
	if s.Model == "" {
		wrong = append(wrong, errors.New("no model name"))
	}
	if u, err := url.Parse(s.BaseURL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		wrong = append(wrong, fmt.Errorf("the base URL must have the form %s", p.baseURL))
	}
	if s.Timeout < 0 || s.MaxTries < 0 || s.MaxTokens < 0 || s.ContextTokens < 0 {
		wrong = append(wrong, errors.New("timeout, tries and tokens must not be negative"))
	}
	return s, errors.Join(wrong...)
}

// firstTokenField returns the field to try first in OpenAI's protocol. OpenAI refuses the old field for its newer
// models with an error message. All other servers know the old field, and several silently ignore the new one. Then
// nothing stops an endless answer (llama-cpp-python 0.3).
func (s RoleSettings) firstTokenField() string {
	if u, err := url.Parse(s.BaseURL); err == nil {
		if host := strings.ToLower(u.Hostname()); host == "api.openai.com" || strings.HasSuffix(host, ".azure.com") {
			return TokenFieldCompletion
		}
	}
	return TokenFieldLegacy
}

// host returns the server's name for messages and for outage records.
func (s RoleSettings) host() string {
	u, err := url.Parse(s.BaseURL)
	if err != nil {
		return "the model server"
	}
	return u.Host
}

// NewHTTPClient returns a client for model servers that keeps idle connections open to each of them, at most this
// number. It has no timeout, because every try has its own.
func NewHTTPClient(idle int) *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          2 * idle,
		MaxIdleConnsPerHost:   idle,
		IdleConnTimeout:       90 * time.Second,
	}}
}

// exchanging returns a copy of client whose requests are exchanges; nil stands for a default client.
func exchanging(client *http.Client) *http.Client {
	if client == nil {
		client = NewHTTPClient(64)
	}
	return wire.Client(client)
}
