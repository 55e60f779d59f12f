package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// LLM configures the models. After Load every role is complete, with missing values taken from Main.
type LLM struct {
	Timeout  time.Duration // of one call, in total
	MaxTries int           // of one call
	Prices   string        // custom prices: NAME=INPUT/OUTPUT, ... in USD per million tokens

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

// Model configures one model and how to call it.
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

func llmTable(l *LLM) []field {
	fields := []field{
		setting("llm.timeout", "120s", "", "maximum duration of a model call",
			duration(&l.Timeout, time.Second, time.Hour)),
		setting("llm.max_tries", "10", "tries",
			"maximum number of tries of a model call, with growing pauses; rate limits (Retry-After) and outages "+
				"do not count",
			number(&l.MaxTries, 1, 10)),
		setting("llm.requests_per_minute", "0", "requests",
			"maximum number of model calls per minute with one key, across all workers; 0: no known limit",
			number(&l.RequestsPerMinute, 0, 10_000_000)),
		setting("llm.tokens_per_minute", "0", "tokens",
			"maximum number of tokens (input and output) per minute with one key, across all workers; 0: no "+
				"known limit",
			number(&l.TokensPerMinute, 0, 2_000_000_000)),
		setting("llm.max_in_flight", "0", "calls",
			"maximum number of concurrent model calls with one key, across all workers; 0: learned from the "+
				"server's rejections",
			number(&l.MaxInFlight, 0, 1_000_000)),
		setting("llm.prices", "", "",
			"prices of models, if the built-in list prices do not apply: NAME=INPUT/OUTPUT, ... in USD per "+
				"million tokens; NAME=INPUT/OUTPUT/CACHED/WRITTEN if reads from and writes to the provider's "+
				"cache have other prices",
			text(&l.Prices, "NAME=INPUT/OUTPUT, ... such as my-model=0.2/0.8, local=0/0", anyText)),
	}
	fields = append(fields, modelTable("llm", &l.Main)...)
	for _, r := range roles {
		for _, f := range modelTable("llm."+r.name, r.model(l)) {
			f.Inherit = "llm." + lastKey(f.Path)
			f.Default = ""
			f.Doc = "as " + f.Inherit + ", for one role: " + r.name + " " + r.does
			if lastKey(f.Path) == "max_tokens" && r.maxTokens > 0 {
				f.Inherit = ""
				f.Default = strconv.Itoa(r.maxTokens)
				f.Doc += "; unless set, never above llm.max_tokens, and equal to it for a reasoning model"
			}
			fields = append(fields, f)
		}
	}
	return fields
}

func modelTable(prefix string, m *Model) []field {
	return []field{
		setting(prefix+".provider", providerOpenAI, "",
			"protocol of the model server; most servers speak openai",
			choice(&m.Provider, providerOpenAI, providerAnthropic, providerOllama)),
		setting(prefix+".model", "", "", "name of the model; empty: none, reports are extractive",
			text(&m.Name, "the name of a model", anyText)),
		setting(prefix+".base_url", "", "", "address of the model server; empty: OPENAI_BASE_URL or OLLAMA_HOST, "+
			"else the provider's",
			address(&m.BaseURL, httpAllowed, httpAddress)),
		setting(prefix+".api_key", "", "",
			"key of the model server, best set in the environment; empty: OPENAI_API_KEY or ANTHROPIC_API_KEY",
			secret(&m.APIKey)),
		setting(prefix+".context_tokens", "32768", "tokens", "context window of the model in tokens (input and "+
			"output together)",
			number(&m.ContextTokens, 1024, 10_000_000)),
		setting(prefix+".temperature", "0.5", "", "sampling temperature; 0: always the likeliest words; higher: "+
			"more variety",
			decimal(&m.Temperature, 0, 2)),
		setting(prefix+".max_tokens", "12000", "tokens",
			"maximum number of tokens of an answer; unset: at most half of context_tokens",
			number(&m.MaxTokens, 16, 1_000_000)),
		setting(prefix+".reasoning", "false", "", "let the model reason before it answers",
			toggle(&m.Reasoning)),
	}
}

func lastKey(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// completeModels fills in the values that a role does not set. byPath: the table of c; apply sets a field.
func completeModels(c *Config, byPath map[string]field, getenv func(string) string,
	apply func(f field, text, source string)) {
	commonVariables(c, byPath, getenv, apply)
	limitAnswer(c, "llm", &c.LLM.Main, c.LLM.Main.MaxTokens, "")
	for _, f := range byPath {
		if f.Inherit == "" || c.Given(f.Path) {
			continue
		}
		if c.LLM.foreign(f.Path) || f.Path == "embedding.base_url" && c.LLM.Main.Provider != providerOpenAI {
			_ = f.set(byPath[f.Inherit].Default) // a default passes the check
			continue
		}
		if err := f.set(byPath[f.Inherit].reveal()); err == nil { // both have the same check
			c.origins[f.Path] = origin{text: f.Inherit}
		}
	}
	ownAddresses(c)
	for _, r := range roles {
		m, limit, from := r.model(&c.LLM), r.maxTokens, ""
		if limit == 0 || m.Reasoning || limit > c.LLM.Main.MaxTokens { // reasoning counts towards the limit
			limit, from = c.LLM.Main.MaxTokens, "llm.max_tokens"
		}
		limitAnswer(c, "llm."+r.name, m, limit, from)
	}
}

// limitAnswer sets the answer limit if the user has not: tokens, but at most half of the context window.
func limitAnswer(c *Config, prefix string, m *Model, tokens int, from string) {
	path := prefix + ".max_tokens"
	if c.Given(path) {
		return
	}
	if half := m.ContextTokens / 2; tokens > half {
		tokens, from = half, prefix+".context_tokens"
	}
	m.MaxTokens = tokens
	if from != "" {
		c.origins[path] = origin{text: from}
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
	prefixes, models := []string{"llm"}, []Model{main}
	for _, r := range roles {
		m, path := *r.model(&c.LLM), "llm."+r.name+".model"
		prefixes, models = append(prefixes, "llm."+r.name), append(models, m)
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
	for i, m := range models {
		path := prefixes[i] + ".max_tokens"
		if c.Given(path) && m.MaxTokens >= m.ContextTokens && !known.about(path, prefixes[i]+".context_tokens") {
			add(path, strconv.Itoa(m.MaxTokens), fmt.Sprintf("must leave room for the question in %s.context_tokens (%d)",
				prefixes[i], m.ContextTokens))
		}
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
