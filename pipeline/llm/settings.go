package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"nightdesk/pipeline/llm/wire"
	"nightdesk/topicqueue"
)

// Transport is a way to ask for an answer that fits a JSON schema.
type Transport string

// The transports, from the one that binds a server most to the one that every server understands.
const (
	TransportAuto   Transport = ""            // find out, once per server and model
	TransportSchema Transport = "json_schema" // response_format json_schema, strict
	TransportTool   Transport = "tool"        // a forced tool call whose arguments are the answer
	TransportPrompt Transport = "prompt"      // the prompt asks for JSON
)

// The fields in which servers take the token limit.
const (
	// max_completion_tokens at OpenAI and Azure, max_tokens elsewhere; the other one when that is refused
	TokenFieldAuto       = ""
	TokenFieldCompletion = "max_completion_tokens"
	TokenFieldLegacy     = "max_tokens"
)

// RoleSettings says which model serves a role, and how.
type RoleSettings struct {
	Provider      Provider // empty = ProviderOpenAI
	Model         string
	BaseURL       string // without /chat/completions and the like; empty = the provider's own, see Provider
	APIKey        string // empty = none is sent
	Temperature   float64
	MaxTokens     int           // of one answer; 0 = the server's default, 4,096 with Anthropic, which has none
	ContextTokens int           // the model's window; 0 = unknown, nothing is checked
	Reasoning     bool          // the model thinks by itself: its answers get no think field
	Transport     Transport     // TransportAuto finds out; any other is used as it is
	TokenField    string        // one of the TokenField... constants; for ProviderOpenAI only
	Timeout       time.Duration // of one try, to the last byte of the answer; 0 = 5 minutes
	MaxTries      int           // of one call; 0 = 10
}

// Hear returns what is told of an answer while it is written, piece by piece; nil when nobody reads along. It is asked
// before each try: a second one begins the text anew. An empty piece ends it.
type Hear func(ctx context.Context, at Position) func(piece string)

// Settings configures a Client.
type Settings struct {
	Roles    map[Role]RoleSettings
	Governor Governor              // nil = calls go at once, and only their tries bound them
	Limits   topicqueue.CallLimits // of each provider key, for the governor
	Hear     Hear                  // nil = answers arrive whole
	// nil = a sensible one; it need not guard against private addresses, the operator chose the server
	HTTPClient *http.Client
}

const (
	defaultTimeout  = 5 * time.Minute
	defaultMaxTries = 10
)

// withDefaults fills in what is empty and lists what is wrong.
func (s RoleSettings) withDefaults() (RoleSettings, error) {
	if s.Provider == "" {
		s.Provider = ProviderOpenAI
	}
	p, known := protocols[s.Provider]
	if !known {
		return s, fmt.Errorf("provider %q is unknown: use %s, %s or %s", s.Provider, ProviderOpenAI, ProviderAnthropic,
			ProviderOllama)
	}
	s.BaseURL = strings.TrimRight(strings.TrimSpace(cmp.Or(s.BaseURL, p.baseURL)), "/")
	for _, slip := range p.slips {
		s.BaseURL = strings.TrimSuffix(s.BaseURL, slip)
	}
	if u, err := url.Parse(s.BaseURL); err == nil && s.Provider == ProviderAnthropic && u.Host != "" && u.Path == "" {
		s.BaseURL += "/v1" // what others call its base URL has no path
	}
	s.APIKey = strings.TrimSpace(s.APIKey)
	if s.Timeout == 0 {
		s.Timeout = defaultTimeout
	}
	if s.MaxTries == 0 {
		s.MaxTries = defaultMaxTries
	}
	if s.Provider != ProviderOpenAI {
		s.TokenField = TokenFieldLegacy
	}
	if s.Provider == ProviderAnthropic && s.MaxTokens == 0 {
		s.MaxTokens = anthropicMaxTokens
	}
	var wrong []error
	if s.Model == "" {
		wrong = append(wrong, errors.New("no model name"))
	}
	if u, err := url.Parse(s.BaseURL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		wrong = append(wrong, fmt.Errorf("the base URL must look like %s", p.baseURL))
	}
	if s.Transport != TransportAuto && !slices.Contains(p.transports, s.Transport) {
		wrong = append(wrong, fmt.Errorf("transport %q is not one of %s's: use one of %v or leave it empty", s.Transport,
			s.Provider, p.transports))
	}
	switch s.TokenField {
	case TokenFieldAuto, TokenFieldCompletion, TokenFieldLegacy:
	default:
		wrong = append(wrong, fmt.Errorf("token field %q is unknown: use %s, %s or leave it empty", s.TokenField,
			TokenFieldCompletion, TokenFieldLegacy))
	}
	if s.Timeout < 0 || s.MaxTries < 0 || s.MaxTokens < 0 || s.ContextTokens < 0 {
		wrong = append(wrong, errors.New("timeout, tries and tokens must not be negative"))
	}
	return s, errors.Join(wrong...)
}

// firstTokenField is the field to begin with. OpenAI refuses the old one for its newer models and says so. Others
// know the old one for certain, and several ignore the new one without a word: then nothing stops a model that runs
// away (llama-cpp-python 0.3 does).
func (s RoleSettings) firstTokenField() string {
	if u, err := url.Parse(s.BaseURL); err == nil {
		if host := strings.ToLower(u.Hostname()); host == "api.openai.com" || strings.HasSuffix(host, ".azure.com") {
			return TokenFieldCompletion
		}
	}
	return TokenFieldLegacy
}

// host returns the server's name for messages and for the record of outages.
func (s RoleSettings) host() string {
	u, err := url.Parse(s.BaseURL)
	if err != nil {
		return "the model server"
	}
	return u.Host
}

// NewHTTPClient returns a client for model servers that keeps this number of idle connections to each of them. It has
// no timeout because every try has its own.
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

// exchanging returns a client like this one, nil for a sensible one, whose requests are exchanges.
func exchanging(client *http.Client) *http.Client {
	if client == nil {
		client = NewHTTPClient(64)
	}
	return wire.Client(client)
}
