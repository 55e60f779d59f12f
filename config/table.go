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

// field is a setting bound to its place in a Config.
type field struct {
	Setting
	value
	alias string // environment variable with the lowest precedence
}

// setting returns one row of the table. unit may be empty.
func setting(path, fallback, unit, doc string, v value) field {
	return field{Setting: Setting{Path: path, Env: environment(path), Type: v.kind, Default: fallback, Unit: unit,
		Doc: doc, Allowed: v.allowed}, value: v}
}

// environment returns the environment variable of a setting.
func environment(path string) string {
	env := strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
	if !isService(path) {
		env = "NIGHTDESK_" + env
	}
	return env
}

// isService reports whether a setting names a service that other programs also use. Its environment variable then has
// no NIGHTDESK_ prefix.
func isService(path string) bool {
	group, _, _ := strings.Cut(path, ".")
	return slices.Contains([]string{"redis_url", "redis_ca_file", "storage_url", "s3", "llm", "embedding",
		"speech"}, group) || slices.Contains(paperServices, group)
}

// table returns all settings, bound to c, in display order. It is the only place that declares a setting: default,
// unit, doc and check.
func table(c *Config) []field {
	return slices.Concat(deskTable(c), notifyTable(&c.Webhook, &c.Mail), retentionTable(&c.Retention),
		webSearchTable(&c.WebSearch), paperTable(&c.PaperSearch), llmTable(&c.LLM), embeddingTable(&c.Embedding),
		speechTable(&c.Speech))
}

// deskTable returns the core settings. They suffice for the options of a run.
func deskTable(c *Config) []field {
	return slices.Concat(serviceTable(c), researchingTable(&c.Researching), switchTable(&c.Researching), toolTable(c),
		dialogueTable(&c.Planning), runTable(c))
}

// serviceTable returns the settings of a process: its data, services and concurrency.
func serviceTable(c *Config) []field {
	work := &c.Worker
	return []field{
		setting("log_level", "info", "", "minimum level of log messages",
			choice(&c.LogLevel, "trace", "debug", "info", "warn", "error")),
		setting("data_dir", "./nightdesk-data", "", "directory for knowledge bases, reports and the embedded Redis",
			text(&c.DataDir, "a directory", someText)),
		setting("preset", "medium", "", "default preset of runs",
			choice(&c.Preset, PresetNames()...)),
		setting("language", "en", "", "language of prompts and reports",
			text(&c.Language, "a language tag such as en or zh", languageTag)),
		setting("kb_name", "", "", "default knowledge base of runs",
			text(&c.KBName, "a name; empty: none", anyText)),
		setting("user_info", "", "",
			"who asks and why, in your own words, as text for all prompts, such as: hospital pharmacist, wants "+
				"doses and sources",
			paragraph(&c.UserInfo, maxUserInfo)),
		setting("redis_url", "", "", "Redis that holds the queue; empty: an embedded one",
			address(&c.RedisURL, redisAllowed, redisAddress)),
		setting("redis_ca_file", "", "",
			"CA certificates for a rediss:// redis_url; empty: the system's",
			text(&c.RedisCAFile, "a file in PEM format; empty: the system's", anyText)),
		setting("storage_url", "", "", "where bundles are kept; empty: data_dir",
			address(&c.StorageURL, storageAllowed, storageAddress)),
		setting("s3.endpoint", "", "",
			"S3-compatible server of an s3:// storage_url; empty: Amazon's. Credentials are the usual AWS_* ones",
			address(&c.S3.Endpoint, httpAllowed, httpAddress)),
		setting("s3.public_endpoint", "", "",
			"address of that server in links (`report --link`), if browsers need another one; empty: s3.endpoint",
			address(&c.S3.PublicEndpoint, httpAllowed, httpAddress)),
		setting("s3.region", "", "", "region for signing requests; empty: AWS_REGION, else us-east-1",
			text(&c.S3.Region, "a region such as us-east-1; empty: AWS_REGION, else us-east-1", anyText)),

		setting("worker.concurrency", "20", "tasks", "maximum number of planning and researching tasks of a "+
			"worker in parallel",
			number(&work.Concurrency, 1, 1000)),
		setting("worker.report_concurrency", "4", "tasks",
			"additional parallel tasks of a worker, for reporting only, so that reports never wait for research",
			number(&work.ReportConcurrency, 1, 1000)),
		setting("worker.shutdown_timeout", "20s", "", "time for calls in flight to finish after SIGTERM",
			duration(&work.ShutdownTimeout, time.Second, 10*time.Minute)),

		setting("serve.listen", "127.0.0.1:8080", "",
			"address on which `serve` listens; needs serve.token if other machines can reach it",
			text(&c.Serve.Listen, "host:port, such as 127.0.0.1:8080", listenAddress)),
		setting("serve.token", "", "", "access token for pages and API; empty: no login, on this machine only",
			secret(&c.Serve.Token)),
		setting("serve.read_token", "", "", "access token for read-only use; needs serve.token",
			secret(&c.Serve.ReadToken)),
		setting("watch.return_intermediate_results", "true", "",
			"true: `watch --json` prints all messages; false: only results, questions and the end",
			toggle(&c.Watch.ReturnIntermediateResults)),
	}
}

// researchingTable returns the research settings of a run.
func researchingTable(research *Researching) []field {
	return []field{
		setting("researching.execution_mode", executionParallel, "",
			"research the blocks of a run in parallel or one after another",
			choice(&research.ExecutionMode, executionParallel, executionSeries)),
		setting("researching.max_parallel_topics", "5", "blocks",
			"maximum number of blocks of a run researched in parallel, across all workers",
			number(&research.MaxParallelTopics, 1, 100)),
		setting("researching.max_iterations", "5", "iterations",
			"iterations of a block: exact number in fixed mode, maximum in flexible mode",
			number(&research.MaxIterations, 1, 50)),
		setting("researching.max_loops", "1", "reviews",
			"maximum number of reviews of a run's evidence, which can add blocks for gaps; 0: none",
			number(&research.MaxLoops, 0, 10)),
		setting("researching.new_topic_min_score", "0.85", "", "minimum score for a discovered topic to join the "+
			"queue",
			decimal(&research.NewTopicMinScore, 0, 1)),
		setting("researching.strategy", strategyBalanced, "",
			"exploratory: more sub-topics with less depth; focused: fewer with more depth; does not change "+
				"limits that you set yourself",
			choice(&research.Strategy, strategyExploratory, strategyBalanced, strategyFocused)),
		setting("researching.sources", "", "",
			"allowed kinds of sources: kb, web, papers, code, own; empty: all that are configured",
			text(&research.Sources, sourcesAllowed, checkSources)),
		setting("researching.iteration_mode", topicqueue.IterationFlexible, "",
			"flexible: a block ends when its evidence suffices; fixed: it always does all iterations",
			choice(&research.IterationMode, topicqueue.IterationFixed, topicqueue.IterationFlexible)),
		setting("researching.max_actions", "3", "tool calls", "maximum number of tool calls per iteration",
			number(&research.MaxActions, 1, 20)),
		setting("researching.tool_timeout", "60s", "", "maximum duration of a tool call",
			duration(&research.ToolTimeout, time.Second, 30*time.Minute)),
		setting("researching.result_limit", "6", "sources", "maximum number of sources from one tool call",
			number(&research.ResultLimit, 1, 50)),
		setting("researching.shared_lifetime", "12h", "",
			"how long the runs of a batch share web search results and pages",
			duration(&research.SharedLifetime, time.Minute, 7*24*time.Hour)),
	}
}

// toolTable returns the settings for fetching pages and running programs.
func toolTable(c *Config) []field {
	return []field{
		setting("fetch.allow", "", "",
			"hosts, addresses and networks that may be fetched although they are not public or use ports other "+
				"than 80 and 443, such as wiki.internal, 10.1.2.3:8080, 10.2.0.0/16",
			text(&c.Fetch.Allow, "hosts, addresses or networks with commas between them; empty: public addresses only",
				anyText)),
		setting("fetch.timeout", "30s", "", "maximum duration of a web request, including its body",
			duration(&c.Fetch.Timeout, time.Second, 10*time.Minute)),
		setting("fetch.per_host", "1s", "",
			"minimum time between page requests to one host, across all workers; robots.txt may require more",
			duration(&c.Fetch.PerHost, 10*time.Millisecond, time.Minute)),

		setting("tools.file", "", "",
			"JSON file with MCP servers, for tools of your own (`nightdesk help tools`)",
			text(&c.Tools.File, "a file; empty: none", anyText)),
		setting("code.python_wasm", "", "",
			"Python as a WebAssembly file, for run_code; empty: python.wasm in data_dir, if it is there",
			text(&c.Code.PythonWASM, "the path of a file", anyText)),
		setting("code.time_limit", "20s", "",
			"maximum duration of a program; at most three quarters of researching.tool_timeout",
			duration(&c.Code.TimeLimit, time.Second, 30*time.Minute)),
	}
}

// dialogueTable returns the settings for user decisions before the research.
func dialogueTable(plan *Planning) []field {
	return []field{
		setting("planning.plan", "", "",
			"file with the sub-topics as a Markdown list; empty: each run is planned on its own",
			text(&plan.Plan, "a file; empty: none", anyText)),
		setting("planning.human_in_the_loop", "true", "",
			"`run` on a terminal may ask about an unclear topic; batches never ask", toggle(&plan.Human.InTheLoop)),
		setting("planning.user_input_method", InputTerminal, "",
			"where questions go: terminal, or custom for planning.user_input", choice(&plan.Human.InputMethod, InputTerminal,
				InputCustom)),
		setting("planning.user_input", "", "",
			"command or URL that receives a question as JSON and returns the answer as text",
			text(&plan.Human.Input, "a command or URL; empty: none", anyText)),
		setting("planning.wait_time", "5m", "", "how long a question waits for an answer before the run "+
			"continues without one",
			duration(&plan.Human.WaitTime, time.Second, 7*24*time.Hour)),
		setting("planning.approve_plan", "false", "",
			"`run` on a terminal shows the plan first, so that you can approve it, edit it, or say what to change",
			toggle(&plan.Human.ApprovePlan)),
	}
}

// runTable returns the other settings of a run: its blocks, limits, plan and report.
func runTable(c *Config) []field {
	plan := &c.Planning
	return []field{
		setting("queue.max_length", "5", "blocks",
			"maximum number of blocks of a run, planned and discovered; raised if needed to leave room for "+
				"discoveries: half the number of planned blocks, at least 2",
			number(&c.Queue.MaxLength, 1, 200)),

		setting("queue.state_expiry", "168h", "",
			"how long Redis keeps the state of a finished run, for status and retry; its bundle stays in storage",
			duration(&c.Queue.StateExpiry, time.Minute, 365*24*time.Hour)),

		setting("limits.run_duration", "45m", "",
			"maximum duration of a run, counted from the start of planning; then it ends with the findings so far",
			duration(&c.Limits.RunDuration, time.Second, 7*24*time.Hour)),
		setting("limits.writing_time", "9m", "", "part of the duration reserved for the report, at most half",
			duration(&c.Limits.WritingTime, time.Second, 24*time.Hour)),
		setting("limits.block_soft", "12m", "", "duration after which a topic block starts no new iteration",
			duration(&c.Limits.BlockSoft, time.Second, 7*24*time.Hour)),
		setting("limits.block_hard", "30m", "", "duration after which a topic block ends with its findings so far",
			duration(&c.Limits.BlockHard, time.Second, 7*24*time.Hour)),
		setting("limits.run_budget", "", "", "budget of a run for models; then it ends with the findings so far",
			budget(&c.Limits.RunBudget)),
		setting("limits.night_budget", "", "", "budget of all runs that start in one night, from noon to noon",
			budget(&c.Limits.NightBudget)),

		setting("prompts.dir", "", "",
			"directory with your own prompt templates, such as en/decide.system.tmpl, to override built-in ones",
			text(&c.PromptsDir, "a directory; empty: none", anyText)),

		setting("planning.rephrase.enabled", "false", "", "rewrite the topic as a research brief first",
			toggle(&plan.Rephrase.Enabled)),
		setting("planning.rephrase.max_iterations", "3", "rounds", "maximum number of rewriting rounds",
			number(&plan.Rephrase.MaxIterations, 1, 10)),
		setting("planning.decompose.mode", topicqueue.DecomposeManual, "",
			"manual: a fixed number of sub-topics; auto: as many as the topic needs",
			choice(&plan.Decompose.Mode, topicqueue.DecomposeManual, topicqueue.DecomposeAuto)),
		setting("planning.decompose.initial_subtopics", "5", "sub-topics", "number of sub-topics in manual mode",
			number(&plan.Decompose.InitialSubtopics, 1, 50)),
		setting("planning.decompose.auto_max_subtopics", "8", "sub-topics",
			"maximum number of sub-topics in auto mode",
			number(&plan.Decompose.AutoMaxSubtopics, 1, 50)),

		setting("answering.path", pathDeep, "",
			"deep: sub-topics are researched; shallow: one conversation with a model answers; route: a model chooses",
			choice(&c.Answering.Path, pathDeep, topicqueue.PathShallow, topicqueue.PathRoute)),
		setting("answering.max_llm_turns", "10", "turns",
			"maximum number of model calls in a conversation; the last one asks for the answer",
			number(&c.Answering.MaxLLMTurns, 2, 50)),
		setting("answering.max_tool_iterations", "5", "tool calls",
			"maximum number of tool calls in a conversation; parallel calls count separately",
			number(&c.Answering.MaxToolIterations, 1, 50)),

		setting("reporting.citation_style", topicqueue.CitationAnchors, "",
			"anchors: marks such as [CIT-3-01] that link to their reference; numbered: [1], ...",
			choice(&c.Reporting.CitationStyle, topicqueue.CitationAnchors, topicqueue.CitationNumbered)),
		setting("reporting.on_unsupported", topicqueue.UnsupportedMark, "",
			"what to do with an unsupported sentence that the model cannot repair",
			choice(&c.Reporting.OnUnsupported, topicqueue.UnsupportedMark, topicqueue.UnsupportedRemove)),
		setting("reporting.template", "", "",
			"sections of a report with instructions: a Markdown file, or a built-in template (`nightdesk "+
				"styles`); empty: each report has its own outline",
			text(&c.Reporting.Template, "a file or the name of a template; empty: none", anyText)),
		setting("reporting.length", "", "",
			"length of reports, in your own words, such as \"one page\"; empty: as long as the findings need",
			paragraph(&c.Reporting.Length, maxWish)),
		setting("reporting.audience", "", "",
			"readers of the reports, in your own words, such as \"engineers who know databases\"; empty: unspecified",
			paragraph(&c.Reporting.Audience, maxWish)),
		setting("reporting.pictures", "false", "",
			"show pictures from cited web pages below the sections that cite them, with site and licence",
			toggle(&c.Reporting.Pictures)),
		setting("reporting.formats", "html,docx", "", "additional formats of a report, beside Markdown; md: none",
			text(&c.Reporting.Formats, formatsAllowed, checkFormats)),
		setting("reporting.audio", audioOff, "",
			"audio version of reports: the whole report, its main points, or its main points by two voices; also "+
				"speech_synthesis_config.mode",
			choice(&c.Reporting.Audio, audioSettings...)),
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
