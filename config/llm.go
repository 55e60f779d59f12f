package config

import (
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

// completeModels fills in the values that a role does not set. byPath: the table of c; apply sets a field.
func completeModels(c *Config, byPath map[string]field, getenv func(string) string,
	apply func(f field, text, source string)) {
	commonVariables(c, byPath, getenv, apply)
	main := &c.LLM.Main
	if half := main.ContextTokens / 2; !c.Given("llm.max_tokens") && main.MaxTokens > half {
		main.MaxTokens = half
		c.origins["llm.max_tokens"] = origin{text: "llm.context_tokens"}
	}
	for _, f := range byPath {
		if f.Inherit == "" || c.Given(f.Path) {
			continue
		}
		if c.LLM.foreign(f.Path) || f.Path == "embedding.base_url" && main.Provider != providerOpenAI {
			continue
		}
		if err := f.set(byPath[f.Inherit].reveal()); err == nil { // both have the same check
			c.origins[f.Path] = origin{text: f.Inherit}
		}
	}
	ownAddresses(c)
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

// checkModels checks the combination of the model settings. known: problems of individual settings, which are not
// repeated.
func checkModels(c Config, known Problems) Problems {
	var problems Problems
	add := func(path, value, reason string) {
		problems = append(problems, Problem{Key: path, Value: clip(value), Source: c.source(path), Reason: reason})
	}
	main := c.LLM.Main
	if reason := lacksKey(main, "llm"); reason != "" && !known.about("llm.api_key", "llm.base_url", "llm.provider") {
		add("llm.model", main.Name, reason)
	}
	for _, r := range roles {
		m, path := *r.model(&c.LLM), "llm."+r.name+".model"
		switch {
		case known.about(path, "llm.model"):
		case m.Name != "" && main.Name == "":
			add(path, m.Name, "the other roles have no model: set LLM_MODEL too")
		case m.Name == "" && main.Name != "" && m.Provider != main.Provider:
			add(path, "", fmt.Sprintf("must be set: llm.model is %s's, and this role's provider is %s",
				main.Provider, m.Provider))
		case m.Provider != main.Provider && lacksKey(m, "llm."+r.name) != "" &&
			!known.about("llm."+r.name+".api_key", "llm."+r.name+".base_url"):
			add(path, m.Name, lacksKey(m, "llm."+r.name))
		case m.Name == "" && main.Name != "":
			add(path, "", "must not be empty: remove it to use llm.model")
		}
	}
	if path := "llm.max_tokens"; main.MaxTokens >= main.ContextTokens && !known.about(path, "llm.context_tokens") {
		add(path, strconv.Itoa(main.MaxTokens), fmt.Sprintf("must leave room for the question in llm.context_tokens (%d)",
			main.ContextTokens))
	}
	return problems
}

// remarkModels returns notices about settings that are valid but probably unintended.
func remarkModels(c Config) []string {
	var notices []string
	if !c.LLM.Enabled() {
		for _, path := range []string{"llm.api_key", "llm.base_url", "llm.provider"} {
			if c.Given(path) && (path != "llm.provider" || c.LLM.Main.Provider != providerOpenAI) {
				name, ok := strings.CutPrefix(c.source(path), "environment ")
				if !ok {
					name = path + " (" + c.source(path) + ")"
				}
				notices = append(notices, name+" is set but LLM_MODEL is not: no model is used; set LLM_MODEL=...")
			}
		}
		return notices
	}
	notices = append(notices, remarkKey(c, "llm", c.LLM.Main)...)
	for _, r := range roles {
		if m := r.model(&c.LLM); m.Provider != c.LLM.Main.Provider {
			notices = append(notices, remarkKey(c, "llm."+r.name, *m)...)
			continue
		}
		base, m := "llm."+r.name+".base_url", r.model(&c.LLM)
		if c.Given(base) && !c.Given("llm."+r.name+".api_key") && m.APIKey != (Secret{}) &&
			m.BaseURL.Host() != c.LLM.Main.BaseURL.Host() {
			notices = append(notices,
				fmt.Sprintf("the key of llm.api_key (%s) is also sent to %s (%s): set LLM_%s_API_KEY to send another key",
					c.source("llm.api_key"), m.BaseURL.Host(), c.source(base), strings.ToUpper(r.name)))
		}
	}
	return notices
}
