// Package config holds every setting of nightdesk: one struct, one table that gives each setting its default, doc, unit
// and check, and the presets.
//
// A value comes from the strongest of: flag, environment, nightdesk.yaml, preset, default. Only cmd imports this
// package; every other package is handed values. Start reading with Load and Config.RunOptions; the table is in
// table.go, llm.go and embedding.go.
package config

import (
	"maps"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/schedule"
)

// DefaultFile is the settings file that is read when none is named.
const DefaultFile = "nightdesk.yaml"

// Config is the effective configuration: what Load made of defaults, preset, file, environment and flags.
// It prints without secrets. Copies share nothing that changes.
type Config struct {
	LogLevel    string // trace, debug, info, warn or error
	DataDir     string
	Preset      string
	Language    string // language tag
	KBName      string
	UserInfo    string // who asks and for what, for all prompts
	Attached    bool   // documents are attached to the run, which the tools of the knowledge base find; no setting
	RedisURL    URL    // empty: embedded
	RedisCAFile string // PEM; empty: the system's certificate authorities
	StorageURL  URL    // empty: DataDir; else file:///dir or s3://bucket/prefix
	S3          S3
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
	PromptsDir  string // templates that take the place of built-in ones; empty: none
	Answering   Answering
	Reporting   Reporting
	Webhook     Webhook
	Mail        Mail
	Retention   Retention
	LLM         LLM
	Embedding   Embedding
	Speech      Speech
	Schedules   []schedule.Spec // of the settings file, in its order

	origins map[string]origin // by path; a setting that is missing here has its default
	notices []string
}

// S3 says where the bucket of an s3:// StorageURL is. Credentials are not settings: the AWS_* variables, profiles and
// roles that every S3 program honours are used.
type S3 struct {
	Endpoint       URL // empty: Amazon's
	PublicEndpoint URL // in links; empty: Endpoint
	Region         string
}

// Watch governs the messages that readers of a run's stream get.
type Watch struct {
	ReturnIntermediateResults bool
}

// Worker says how much one worker process does at once.
type Worker struct {
	Concurrency       int
	ReportConcurrency int // slots that only reporting uses, besides Concurrency
	ShutdownTimeout   time.Duration
}

// Researching governs the loop of a topic block.
type Researching struct {
	ExecutionMode     string // parallel or series
	MaxParallelTopics int    // in parallel mode
	MaxIterations     int
	MaxLoops          int     // reviews of a run's evidence
	NewTopicMinScore  float64 // 0 to 1
	Strategy          string  // exploratory, balanced or focused
	Sources           string  // kinds of sources with commas between them; empty: all that are configured
	IterationMode     string  // topicqueue.IterationFixed or IterationFlexible
	MaxActions        int     // tool calls per iteration
	ToolTimeout       time.Duration
	ResultLimit       int           // sources per tool call
	SharedLifetime    time.Duration // of what a tool call returned, for other blocks and runs
	EnableRAGHybrid   bool
	EnableRAGNaive    bool
	EnableQueryItem   bool
	EnableWebSearch   bool // where there is a search engine
	EnablePaperSearch bool
	EnableOpenPage    bool // after Load: where EnableWebSearch is, unless a person has set it
	EnableRunCode     bool
}

// Fetch governs requests to pages and services of the web.
type Fetch struct {
	// hosts, addresses and networks, with commas between them, that may be reached although they are not public
	Allow   string
	Timeout time.Duration
	PerHost time.Duration // between requests for pages of one host
}

// Code says what runs the programs of run_code.
type Code struct {
	PythonWASM    string // path of a python.wasm; empty: bubblewrap where it works
	PythonWASMSum string // lower-case hex; empty: that of the build that is known
	TimeLimit     time.Duration
}

// Queue limits the Dynamic Topic Queue of a run.
type Queue struct {
	MaxLength   int           // blocks; RunOptions raises it when a preset plans more
	StateExpiry time.Duration // of a finished run's state in Redis
}

// Limits bound a run in time and money.
type Limits struct {
	RunDuration time.Duration // from the begin of planning
	WritingTime time.Duration // of it, for the report; at most half is
	BlockSoft   time.Duration // then a block begins no new iteration
	BlockHard   time.Duration // then it ends with what it has

	RunBudget   topicqueue.Budget // of one run; zero: none
	NightBudget topicqueue.Budget // of all runs of a night
}

// Planning governs what happens before the first block.
type Planning struct {
	Plan      string // file with the sub-topics; empty: each run gets its own
	Human     Human
	Rephrase  Rephrase
	Decompose Decompose
}

// Answering governs answers that are given in one conversation with a model.
type Answering struct {
	Path              string // pathDeep, topicqueue.PathShallow or topicqueue.PathRoute
	MaxLLMTurns       int    // questions to the model
	MaxToolIterations int    // tool calls, each counted
}

// pathDeep is how people call topicqueue.PathDeep.
const pathDeep = "deep"

// Human says how `run` asks a person. Batches never do.
type Human struct {
	InTheLoop   bool
	InputMethod string        // InputTerminal or InputCustom
	Input       string        // of InputCustom: a command, or a URL
	WaitTime    time.Duration // for each answer
	ApprovePlan bool          // a person approves each plan
}

// How a person is asked.
const (
	InputTerminal = "terminal"
	InputCustom   = "custom"
)

// Rephrase turns the topic into a research brief.
type Rephrase struct {
	Enabled       bool
	MaxIterations int
}

// Decompose cuts a topic into sub-topics.
type Decompose struct {
	Mode             string // topicqueue.DecomposeManual or DecomposeAuto
	InitialSubtopics int    // in manual mode
	AutoMaxSubtopics int    // in auto mode
}

// Reporting governs the report.
type Reporting struct {
	Length        string // how long reports are to be, in words; empty: not said
	Audience      string // who reads them; empty: not said
	CitationStyle string // topicqueue.CitationAnchors or CitationNumbered
	OnUnsupported string // topicqueue.UnsupportedMark or UnsupportedRemove
	Template      string // file with the sections of reports; empty: each report gets its own
	Pictures      bool   // of pages are shown
	Formats       string // beside Markdown, with commas between them
	Audio         string // how reports are read aloud: one of audioSettings
}

// How the blocks of a run are worked.
const (
	executionParallel = "parallel"
	executionSeries   = "series" // one block of a run at a time
)

// origin says where the value of a setting came from.
type origin struct {
	given bool   // a person set it: file, environment or flag
	text  string // nightdesk.yaml:12, environment LLM_MODEL, flag, preset medium, llm.model
}

// Notices are remarks on settings that are valid but probably not what was meant, for a person, one line each.
func (c Config) Notices() []string { return append([]string(nil), c.notices...) }

// Given reports whether a person set this setting: in the file, the environment or by flag. path: as in Settings.
func (c Config) Given(path string) bool { return c.origins[path].given }

// source returns where the value of a setting came from, for a person.
func (c Config) source(path string) string {
	if o, ok := c.origins[path]; ok {
		return o.text
	}
	return "default"
}

// clone returns a copy whose settings can be changed without changing c.
func (c Config) clone() Config {
	c.origins = maps.Clone(c.origins)
	if c.origins == nil {
		c.origins = map[string]origin{}
	}
	return c
}
