// Package config defines all settings of nightdesk: one struct, one table with the default, doc, unit and check of
// each setting, and the presets.
//
// The sources of a value, in order of precedence, are: flag, environment, nightdesk.yaml, preset, default. Only cmd
// imports this package; other packages receive values. Start reading with Load and Config.RunOptions. The table is in
// table.go, llm.go and embedding.go.
package config

import (
	"maps"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/schedule"
)

// DefaultFile is the settings file to read if no other is given.
const DefaultFile = "nightdesk.yaml"

// Config is the effective configuration that Load builds from defaults, preset, file, environment and flags. It
// prints without secrets. Copies share no mutable data.
type Config struct {
	LogLevel    string // trace, debug, info, warn or error
	DataDir     string
	Preset      string
	Language    string // language tag
	KBName      string
	UserInfo    string // who asks and for what purpose, for all prompts
	Attached    bool   // the run has attached documents, which the knowledge base tools search; not a setting
	RedisURL    URL    // empty: embedded Redis
	S3          S3
	StorageURL  URL // file:///dir or s3://bucket/prefix; empty: DataDir
	Serve       Serve
	Watch       Watch
	Worker      Worker
	Researching Researching
	Fetch       Fetch
	Code        Code
	Tools       Tools
	WebSearch   WebSearch
	PaperSearch PaperSearch
	Queue       Queue
	Limits      Limits
	Planning    Planning
	PromptsDir  string // directory of custom prompt templates; empty: none
	Answering   Answering
	Reporting   Reporting
	Webhook     Webhook
	Mail        Mail
	Retention   Retention
	LLM         LLM
	Embedding   Embedding
	Speech      Speech
	Schedules   []schedule.Spec // from the settings file, in its order

	origins map[string]origin // by path; settings without an entry have their default
	notices []string
}

// Watch configures the messages in a run's stream.
type Watch struct {
	ReturnIntermediateResults bool
}

// Worker configures the concurrency of a worker process.
type Worker struct {
	Concurrency int
}

// Researching configures the research loop of a topic block.
type Researching struct {
	ExecutionMode     string // parallel or series
	MaxParallelTopics int    // in parallel mode
	MaxIterations     int
	MaxLoops          int     // reviews of a run's evidence, at most
	NewTopicMinScore  float64 // 0 to 1
	Strategy          string  // exploratory, balanced or focused
	Sources           string  // comma-separated source types; empty: all configured ones
	IterationMode     string  // topicqueue.IterationFixed or IterationFlexible
	EnableRAGHybrid   bool
	EnableRAGNaive    bool
	EnableQueryItem   bool
	EnableWebSearch   bool // requires a configured search engine
	EnablePaperSearch bool
	EnableOpenPage    bool // after Load: true if web search is available, unless set by the user
	EnableRunCode     bool
}

// Fetch configures requests to web pages and services.
type Fetch struct {
	// comma-separated hosts, addresses and networks that are allowed although they are not public
	Allow string
}

// Code configures the sandbox of run_code.
type Code struct {
	PythonWASM string // path of a python.wasm; empty: that in the data directory
}

// Queue configures the Dynamic Topic Queue of a run.
type Queue struct {
	MaxLength int // blocks; RunOptions raises it if a preset plans more
}

// Limits restricts the duration and cost of runs.
type Limits struct {
	RunDuration time.Duration     // from the start of planning
	RunBudget   topicqueue.Budget // per run; zero: no limit
	NightBudget topicqueue.Budget // for all runs of a night together
}

// Planning configures the steps before the first block.
type Planning struct {
	Plan      string // file with the sub-topics; empty: each run makes its own plan
	Human     Human
	Rephrase  Rephrase
	Decompose Decompose
}

// Answering configures answers that are produced in a single conversation with a model.
type Answering struct {
	MaxLLMTurns       int // maximum number of model calls
	MaxToolIterations int // maximum number of tool calls; parallel calls count individually
}

// Human configures how `run` asks the user. Batches never ask.
type Human struct {
	InTheLoop   bool
	InputMethod string // InputTerminal or InputCustom
	Input       string // for InputCustom: a command or a URL
	ApprovePlan bool   // the user approves each plan
}

// Ways to ask the user.
const (
	InputTerminal = "terminal"
	InputCustom   = "custom"
)

// Rephrase configures the rewriting of the topic as a research brief.
type Rephrase struct {
	Enabled       bool
	MaxIterations int
}

// Decompose configures the splitting of a topic into sub-topics.
type Decompose struct {
	Mode             string // topicqueue.DecomposeManual or DecomposeAuto
	InitialSubtopics int    // in manual mode
	AutoMaxSubtopics int    // in auto mode
}

// Reporting configures the report.
type Reporting struct {
	Length        string // desired length of reports, as free text; empty: unspecified
	Audience      string // audience of reports, as free text; empty: unspecified
	CitationStyle string // topicqueue.CitationAnchors or CitationNumbered
	OnUnsupported string // topicqueue.UnsupportedMark or UnsupportedRemove
	Template      string // file or template with the sections of reports; empty: each report gets its own outline
	Pictures      bool   // show pictures of web pages
	Formats       string // comma-separated formats in addition to Markdown
	Audio         string // audio version of reports: one of audioSettings
}

// Execution modes for the blocks of a run.
const (
	executionParallel = "parallel"
	executionSeries   = "series" // one block of a run at a time
)

// origin records where the value of a setting came from.
type origin struct {
	given bool   // set by the user: file, environment or flag
	text  string // nightdesk.yaml:12, environment LLM_MODEL, flag, preset medium, llm.model
}

// Notices returns warnings about settings that are valid but probably unintended, one line each.
func (c Config) Notices() []string { return append([]string(nil), c.notices...) }

// Given reports whether the user set this setting in the file, the environment or by flag. path: as in Settings.
func (c Config) Given(path string) bool { return c.origins[path].given }

// source returns where the value of a setting came from, for display.
func (c Config) source(path string) string {
	if o, ok := c.origins[path]; ok {
		return o.text
	}
	return "default"
}

// clone returns a copy whose settings can be changed independently of c.
func (c Config) clone() Config {
	c.origins = maps.Clone(c.origins)
	if c.origins == nil {
		c.origins = map[string]origin{}
	}
	return c
}
