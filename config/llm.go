package config

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// LLM configures the models. After Load every role is complete, with missing values taken from Main.
type LLM struct {
	Timeout time.Duration // of one call, in total
	Prices  string        // custom prices: NAME=INPUT/OUTPUT, ... in USD per million tokens

	// Limits per provider key, for all workers together; 0: unknown.
	RequestsPerMinute int
	TokensPerMinute   int
	MaxInFlight       int

	Main Model

	Planner    Model
	Researcher Model // decides the next steps of a block
	Note       Model // compresses tool results
	Writer     Model
	Judge      Model
}

// Model configures one model and how to call it. The first four fields are settings of each role; the others have one
// value for all roles, and MaxTokens a lower one for roles that decide.
type Model struct {
	Provider      string // openai, anthropic or ollama
	Name          string // empty: no model, reports are made of quotes
	BaseURL       URL    // empty: OpenAI's server
	APIKey        Secret // empty: no key is sent
	ContextTokens int
	Temperature   float64
	MaxTokens     int // per answer
	Reasoning     bool
}

// Enabled reports whether a model is configured.
func (l LLM) Enabled() bool { return l.Main.Name != "" }

// role is a role of a run with its own limit for an answer; 0: the main limit. Roles that decide have a low limit, so
// that a runaway answer is cheap.
type role struct {
	name      string
	does      string
	maxTokens int
	model     func(*LLM) *Model
}

var roles = []role{
	{"planner", "rephrases and decomposes", 4000, func(l *LLM) *Model { return &l.Planner }},
	{"researcher", "decides what a block does next", 2000, func(l *LLM) *Model { return &l.Researcher }},
	{"note", "compresses what tools return", 4000, func(l *LLM) *Model { return &l.Note }},
	{"writer", "writes the report", 0, func(l *LLM) *Model { return &l.Writer }},
	{"judge", "checks cited sentences against their sources", 4000, func(l *LLM) *Model { return &l.Judge }},
}

func lastKey(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// roleOf returns the role that a setting belongs to.
func roleOf(path string) (role, bool) {
	for _, r := range roles {
		if parent(path) == "llm."+r.name {
			return r, true
		}
	}
	return role{}, false
}

// inherits returns the path of the setting whose value an unset one takes, or "".
func inherits(path string) string {
	if _, ok := roleOf(path); ok || path == "embedding.base_url" {
		return "llm." + lastKey(path)
	}
	return ""
}

// endpoint is where a model is called, with the group of its settings: the main model, that of a role, or a service
// beside them.
type endpoint struct {
	group, provider, model string
	url                    *URL
	key                    *Secret
}

// endpoints returns the endpoints of c, the main model first.
func (c *Config) endpoints() []endpoint {
	of := func(group string, m *Model) endpoint {
		return endpoint{group, m.Provider, m.Name, &m.BaseURL, &m.APIKey}
	}
	all := []endpoint{of("llm", &c.LLM.Main)}
	for _, r := range roles {
		all = append(all, of("llm."+r.name, r.model(&c.LLM)))
	}
	service := func(group string, s *Server) endpoint {
		e := endpoint{group, providerOpenAI, s.Model, &s.BaseURL, &s.APIKey}
		if !s.Enabled() {
			e.model = ""
		}
		return e
	}
	return append(all, service("embedding", &c.Embedding.Server), service("speech", &c.Speech.Server))
}

// isRole reports whether the endpoint is that of a role.
func (e endpoint) isRole() bool { return strings.HasPrefix(e.group, "llm.") }

// completeModels fills in the values that are not set. byPath: the table of c; apply sets a field.
func completeModels(c *Config, byPath map[string]field, getenv func(string) string,
	apply func(f field, text, source string)) {
	main := &c.LLM.Main
	for _, r := range roles {
		m, group := r.model(&c.LLM), "llm."+r.name
		if !c.Given(group + ".provider") {
			m.Provider = main.Provider
			c.origins[group+".provider"] = origin{text: "llm.provider"}
		}
		if !c.Given(group+".model") && m.Provider == main.Provider {
			m.Name = main.Name
			c.origins[group+".model"] = origin{text: "llm.model"}
		}
	}
	for _, e := range c.endpoints() {
		c.complete(e, byPath, getenv, apply)
	}
	if half := main.ContextTokens / 2; !c.Given("llm.max_tokens") && main.MaxTokens > half {
		main.MaxTokens = half
		c.origins["llm.max_tokens"] = origin{text: "llm.context_tokens"}
	}
	for _, r := range roles {
		m := r.model(&c.LLM)
		shared := *main
		shared.Provider, shared.Name, shared.BaseURL, shared.APIKey = m.Provider, m.Name, m.BaseURL, m.APIKey
		if r.maxTokens > 0 && !main.Reasoning { // reasoning counts towards the limit
			shared.MaxTokens = min(r.maxTokens, main.MaxTokens, main.ContextTokens/2)
		}
		*m = shared
	}
}

// complete fills in the address and the key of an endpoint. A key belongs to a server: llm.api_key is also used by
// endpoints at the server of llm.base_url, and the key in a variable of other programs only at the server of that
// variable.
func (c *Config) complete(e endpoint, byPath map[string]field, getenv func(string) string,
	apply func(f field, text, source string)) {
	main, p, url, key := c.LLM.Main, providers[e.provider], e.group+".base_url", e.group+".api_key"
	theirs := getenv(p.server)
	if theirs != "" && p.address != nil {
		theirs = p.address(theirs)
	}
	switch {
	case c.Given(url):
	case e.group != "llm" && inherits(url) != "" && e.provider == main.Provider:
		*e.url = main.BaseURL
		c.origins[url] = origin{text: "llm.base_url"}
	case e.group == "embedding" && main.Provider == providerOllama: // it has an OpenAI-compatible address too
		*e.url = NewURL(strings.TrimSuffix(strings.TrimRight(main.BaseURL.Reveal(), "/"), "/v1") + "/v1")
		c.origins[url] = origin{text: "llm.base_url"}
	case theirs != "" && (e.group == "llm" || e.isRole()):
		apply(byPath[url], theirs, "environment "+p.server)
	case p.own != "":
		*e.url = NewURL(p.own)
		c.origins[url] = origin{text: e.group + ".provider"}
	}
	switch server := serverOf(*e.url); {
	case c.Given(key):
	case e.group != "llm" && server == serverOf(main.BaseURL):
		*e.key = main.APIKey
		c.origins[key] = origin{text: "llm.api_key"}
	case getenv(p.key) != "" && server == serverOf(NewURL(cmp.Or(theirs, p.own))):
		apply(byPath[key], getenv(p.key), "environment "+p.key)
	}
}

// checkModels checks the combination of the settings of models. known: problems of individual settings, which are not
// repeated.
func checkModels(c Config, known Problems) (problems Problems) {
	add := func(path, value, reason string) {
		problems = append(problems, Problem{Key: path, Value: clip(value), Source: c.source(path), Reason: reason})
	}
	main := c.LLM.Main
	for _, e := range c.endpoints() {
		path, lacks := e.group+".model", e.lacksKey()
		switch {
		case known.about(path, e.group+".provider", e.group+".base_url", e.group+".api_key"),
			known.about("llm.model", "llm.provider", "llm.base_url", "llm.api_key"):
		case e.isRole() && e.model != "" && main.Name == "":
			add(path, e.model, "the other roles have no model: set LLM_MODEL too")
		case e.isRole() && e.model == "" && main.Name != "" && e.provider != main.Provider:
			add(path, "", fmt.Sprintf("must be set: llm.model is %s's, and this role's provider is %s", main.Provider,
				e.provider))
		case e.isRole() && e.model == "" && main.Name != "":
			add(path, "", "must not be empty: remove it to use llm.model")
		case lacks != "" && (!e.isRole() || e.provider != main.Provider):
			add(path, e.model, lacks)
		}
	}
	if path := "llm.max_tokens"; main.MaxTokens >= main.ContextTokens && !known.about(path, "llm.context_tokens") {
		add(path, strconv.Itoa(main.MaxTokens), fmt.Sprintf("must leave room for the question in llm.context_tokens (%d)",
			main.ContextTokens))
	}
	return problems
}

// unused returns notices about settings of models that have no effect, because there is no model.
func unused(c Config) (notices []string) {
	for _, path := range []string{"llm.api_key", "llm.base_url", "llm.provider", "embedding.base_url",
		"embedding.api_key"} {
		group := parent(path)
		missing := map[string]bool{"llm": !c.LLM.Enabled(), "embedding": !c.Embedding.Enabled()}[group]
		name, isVariable := strings.CutPrefix(c.source(path), "environment ")
		switch {
		case !missing, !c.Given(path), group == "embedding" && name == openAIKey:
			continue
		case !isVariable:
			name = path + " (" + name + ")"
		}
		model := strings.ToUpper(group) + "_MODEL"
		notices = append(notices, fmt.Sprintf("%s is set but %s is not: no model is used; set %[2]s=...", name, model))
	}
	return notices
}
