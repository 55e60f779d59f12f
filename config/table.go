package config

import (
	"slices"
	"strings"
	"time"

	"nightdesk/topicqueue"
)

// Setting describes one setting.
type Setting struct {
	Path    string `json:"setting"`            // worker.concurrency: keys of nightdesk.yaml joined by dots
	Env     string `json:"environment"`        // NIGHTDESK_WORKER_CONCURRENCY
	Type    string `json:"type"`               // text, choice, number, decimal, switch, duration, budget, secret, URL
	Default string `json:"default"`            // as written in the file; a preset takes precedence
	Unit    string `json:"unit,omitempty"`     // of a number
	Doc     string `json:"doc"`                // what it does, one line
	Allowed string `json:"allowed"`            // the values that the check accepts
	Inherit string `json:"inherits,omitempty"` // path of the setting to inherit from if this one is not set
}

// row is one row of the table: a setting and its value with the check. Its default and its doc are in
// nightdesk.example.yaml.
type row struct {
	path string
	value
}

// field is a row with the description of its setting.
type field struct {
	Setting
	value
}

// table returns all settings, bound to c, in display order.
func table(c *Config) []field { return described(slices.Concat(deskRows(c), serviceRows(c))) }

// deskTable returns the core settings. They suffice for the options of a run.
func deskTable(c *Config) []field { return described(deskRows(c)) }

// described adds their descriptions to rows.
func described(rows []row) []field {
	fields := make([]field, len(rows))
	for i, r := range rows {
		entry := documented()[r.path]
		fields[i] = field{Setting{Path: r.path, Env: environment(r.path), Type: r.kind, Default: entry.fallback, Unit: r.unit,
			Doc: entry.doc, Allowed: r.allowed, Inherit: inherits(r.path)}, r.value}
		if of, ok := roleOf(r.path); ok {
			fields[i].Doc = "as " + fields[i].Inherit + ", for one role: " + of.name + " " + of.does
		}
	}
	return fields
}

// environment returns the environment variable of a setting.
func environment(path string) string {
	env := strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
	group, _, _ := strings.Cut(path, ".")
	if isService(group) || strings.HasSuffix(path, "_api_key") || strings.HasSuffix(path, "_url") {
		return env
	}
	return "NIGHTDESK_" + env
}

// isService reports whether a group of settings names a service that other programs also use. Its environment
// variables then have no NIGHTDESK_ prefix.
func isService(group string) bool {
	return slices.Contains([]string{"llm", "embedding", "speech", "openalex", "semantic_scholar", "crossref", "s3",
		"redis_ca_file"}, group)
}

// deskRows returns the settings of a process and of runs. This table and serviceRows are the only places that declare
// a setting. Their rows have the order of nightdesk.example.yaml.
func deskRows(c *Config) []row {
	research, plan, limits, report := &c.Researching, &c.Planning, &c.Limits, &c.Reporting
	rows := []row{
		{"log_level", choice(&c.LogLevel, "trace", "debug", "info", "warn", "error")},
		{"data_dir", text(&c.DataDir, "a directory", someText)},
		{"preset", choice(&c.Preset, PresetNames()...)},
		{"language", text(&c.Language, "a language tag such as en or zh", languageTag)},
		{"kb_name", text(&c.KBName, "a name; empty: none", anyText)},
		{"user_info", paragraph(&c.UserInfo, maxUserInfo)},
		{"redis_url", address(&c.RedisURL, redisAllowed, redisAddress)},
		{"storage_url", address(&c.StorageURL, storageAllowed, storageAddress)},
		{"worker.concurrency", number(&c.Worker.Concurrency, 1, 1000, "tasks")},
		{"serve.listen", text(&c.Serve.Listen, "host:port, such as 127.0.0.1:8080", listenAddress)},
		{"serve.token", secret(&c.Serve.Token)},
		{"serve.read_token", secret(&c.Serve.ReadToken)},
		{"watch.return_intermediate_results", toggle(&c.Watch.ReturnIntermediateResults)},

		{"researching.execution_mode", choice(&research.ExecutionMode, executionParallel, executionSeries)},
		{"researching.max_parallel_topics", number(&research.MaxParallelTopics, 1, 100, "blocks")},
		{"researching.max_iterations", number(&research.MaxIterations, 1, 50, "iterations")},
		{"researching.max_loops", number(&research.MaxLoops, 0, 10, "reviews")},
		{"researching.new_topic_min_score", decimal(&research.NewTopicMinScore, 0, 1)},
		{"researching.strategy", choice(&research.Strategy, strategyNames...)},
		{"researching.sources", text(&research.Sources, sourcesAllowed, checkSources)},
		{"researching.iteration_mode", choice(&research.IterationMode, topicqueue.IterationFixed,
			topicqueue.IterationFlexible)},
	}
	for _, t := range builtInTools(research) {
		if t.enabled != nil {
			rows = append(rows, row{"researching.enable_" + t.name, toggle(t.enabled)})
		}
	}
	return append(rows, []row{
		{"fetch.allow", text(&c.Fetch.Allow, "hosts, addresses or networks with commas between them; empty: public "+
			"addresses only", anyText)},
		{"tools.file", text(&c.Tools.File, "a file; empty: none", anyText)},
		{"code.python_wasm", text(&c.Code.PythonWASM, "the path of a file", anyText)},

		{"planning.plan", text(&plan.Plan, "a file; empty: none", anyText)},
		{"planning.human_in_the_loop", toggle(&plan.Human.InTheLoop)},
		{"planning.user_input_method", choice(&plan.Human.InputMethod, InputTerminal, InputCustom)},
		{"planning.user_input", text(&plan.Human.Input, "a command or URL; empty: none", anyText)},
		{"planning.approve_plan", toggle(&plan.Human.ApprovePlan)},
		{"planning.rephrase.enabled", toggle(&plan.Rephrase.Enabled)},
		{"planning.rephrase.max_iterations", number(&plan.Rephrase.MaxIterations, 1, 10, "rounds")},
		{"planning.decompose.mode", choice(&plan.Decompose.Mode, topicqueue.DecomposeManual, topicqueue.DecomposeAuto)},
		{"planning.decompose.initial_subtopics", number(&plan.Decompose.InitialSubtopics, 1, 50, "sub-topics")},
		{"planning.decompose.auto_max_subtopics", number(&plan.Decompose.AutoMaxSubtopics, 1, 50, "sub-topics")},

		{"queue.max_length", number(&c.Queue.MaxLength, 1, 200, "blocks")},
		{"limits.run_duration", duration(&limits.RunDuration, time.Second, 7*24*time.Hour)},
		{"limits.run_budget", budget(&limits.RunBudget)},
		{"limits.night_budget", budget(&limits.NightBudget)},
		{"prompts.dir", text(&c.PromptsDir, "a directory; empty: none", anyText)},
		{"answering.max_llm_turns", number(&c.Answering.MaxLLMTurns, 2, 50, "turns")},
		{"answering.max_tool_iterations", number(&c.Answering.MaxToolIterations, 1, 50, "tool calls")},

		{"reporting.citation_style", choice(&report.CitationStyle, topicqueue.CitationAnchors,
			topicqueue.CitationNumbered)},
		{"reporting.on_unsupported", choice(&report.OnUnsupported, topicqueue.UnsupportedMark,
			topicqueue.UnsupportedRemove)},
		{"reporting.template", text(&report.Template, "a file or the name of a template; empty: none", anyText)},
		{"reporting.length", paragraph(&report.Length, maxWish)},
		{"reporting.audience", paragraph(&report.Audience, maxWish)},
		{"reporting.pictures", toggle(&report.Pictures)},
		{"reporting.formats", text(&report.Formats, formatsAllowed, checkFormats)},
		{"reporting.audio", choice(&report.Audio, audioSettings...)},
	}...)
}

// serviceRows returns the settings of the services that a process uses, and of what it keeps.
func serviceRows(c *Config) []row {
	llm, keep := &c.LLM, &c.Retention
	rows := []row{
		{"webhook.url", secretAddress(&c.Webhook.URL, "http:// or https://, such as https://hooks.example.org/nightdesk",
			httpAddresses)},
		{"webhook.secret", secret(&c.Webhook.Secret)},
		{"mail.server", address(&c.Mail.Server, smtpAllowed, smtpAddress)},
		{"mail.from", text(&c.Mail.From, "a mail address", anyText)},
		{"mail.to", text(&c.Mail.To, "mail addresses with commas between them", anyText)},
		{"retention.days", number(&keep.Days, 0, maxDays, "days")},
		{"retention.count", number(&keep.Count, 0, maxKept, "runs")},

		{"searxng_url", address(&c.WebSearch.SearXNGURL, "http:// or https://, such as http://127.0.0.1:8888",
			httpAddress)},
		{"tavily_api_key", secret(&c.WebSearch.TavilyAPIKey)},
		{"brave_api_key", secret(&c.WebSearch.BraveAPIKey)},
		{"serper_api_key", secret(&c.WebSearch.SerperAPIKey)},
		{"exa_api_key", secret(&c.WebSearch.ExaAPIKey)},
		{"openalex.api_key", secret(&c.PaperSearch.OpenAlexKey)},
		{"semantic_scholar.api_key", secret(&c.PaperSearch.SemanticScholarKey)},

		{"llm.timeout", duration(&llm.Timeout, time.Second, time.Hour)},
		{"llm.requests_per_minute", number(&llm.RequestsPerMinute, 0, 10_000_000, "requests")},
		{"llm.tokens_per_minute", number(&llm.TokensPerMinute, 0, 2_000_000_000, "tokens")},
		{"llm.max_in_flight", number(&llm.MaxInFlight, 0, 1_000_000, "calls")},
		{"llm.prices", text(&llm.Prices, "NAME=INPUT/OUTPUT, ... such as my-model=0.2/0.8, local=0/0", anyText)},
	}
	rows = append(rows, modelRows("llm", &llm.Main)...)
	rows = append(rows, []row{
		{"llm.context_tokens", number(&llm.Main.ContextTokens, 1024, 10_000_000, "tokens")},
		{"llm.temperature", decimal(&llm.Main.Temperature, 0, 2)},
		{"llm.max_tokens", number(&llm.Main.MaxTokens, 16, 1_000_000, "tokens")},
		{"llm.reasoning", toggle(&llm.Main.Reasoning)},
	}...)
	for _, r := range roles {
		rows = append(rows, modelRows("llm."+r.name, r.model(llm))...)
	}
	return append(rows, []row{
		{"embedding.model", text(&c.Embedding.Model, "the name of an embedding model", anyText)},
		{"embedding.base_url", address(&c.Embedding.BaseURL, httpAllowed, httpAddress)},
		{"embedding.api_key", secret(&c.Embedding.APIKey)},
		{"speech.model", text(&c.Speech.Model, "the name of a speech model; empty: none", anyText)},
		{"speech.base_url", address(&c.Speech.BaseURL, httpAllowed, httpAddress)},
		{"speech.api_key", secret(&c.Speech.APIKey)},
		{"speech.voices", text(&c.Speech.Voices, "one or two names with a comma between them; empty: the engine's",
			checkVoices)},
	}...)
}

// modelRows returns the settings that each role can have for itself.
func modelRows(prefix string, m *Model) []row {
	return []row{
		{prefix + ".provider", choice(&m.Provider, providerOpenAI, providerAnthropic, providerOllama)},
		{prefix + ".model", text(&m.Name, "the name of a model", anyText)},
		{prefix + ".base_url", address(&m.BaseURL, httpAllowed, httpAddress)},
		{prefix + ".api_key", secret(&m.APIKey)},
	}
}

// Settings returns all settings, in display order.
func Settings() []Setting {
	fields := table(new(Config))
	settings := make([]Setting, len(fields))
	for i, f := range fields {
		settings[i] = f.Setting
	}
	return settings
}
