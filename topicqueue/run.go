package topicqueue

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// RunState is the stage of a run between topic and report.
type RunState string

// The states of a run. Partial means that a report exists, but blocks failed or the writer used a fallback.
const (
	RunQueued        RunState = "queued"
	RunPlanning      RunState = "planning"
	RunAwaitingInput RunState = "awaiting_input"
	RunResearching   RunState = "researching"
	RunReviewing     RunState = "reviewing"
	RunReporting     RunState = "reporting"
	RunNarrating     RunState = "narrating"
	RunCompleted     RunState = "completed"
	RunPartial       RunState = "partial"
	RunFailed        RunState = "failed"
	RunCancelled     RunState = "cancelled"
)

// RunStates lists every state in the order in which a run passes through them.
var RunStates = []RunState{
	RunQueued, RunPlanning, RunAwaitingInput, RunResearching, RunReviewing, RunReporting, RunNarrating,
	RunCompleted, RunPartial, RunFailed, RunCancelled,
}

// Final reports whether a run in this state no longer changes by itself.
func (s RunState) Final() bool {
	switch s {
	case RunCompleted, RunPartial, RunFailed, RunCancelled:
		return true
	}
	return false
}

// Modes of iteration and decomposition, citation styles, and treatment of unsupported sentences.
const (
	IterationFixed    = "fixed"    // all iterations are done
	IterationFlexible = "flexible" // a block stops when its evidence is sufficient
	DecomposeManual   = "manual"   // exactly Options.SubTopics
	DecomposeAuto     = "auto"     // at most Options.SubTopics
	CitationAnchors   = "anchors"  // [[CIT-3-01](#ref-cit-3-01)]
	CitationNumbered  = "numbered" // [1]

	UnsupportedMark   = "mark"   // a sentence that its sources do not support is marked
	UnsupportedRemove = "remove" // such a sentence is removed
)

// The paths from a topic to its report.
const (
	PathDeep    = ""        // sub-topics are researched, and a report is written from the results
	PathShallow = "shallow" // one conversation with a model answers the topic
	PathRoute   = "route"   // a model chooses one of the two
)

// Options are the settings of one run. They are resolved from preset and configuration when the run is enqueued and
// then frozen, so that all workers treat the run alike.
type Options struct {
	Preset        string `json:"preset"`
	Language      string `json:"language"` // BCP 47 primary tag of the report, "en" or "zh" or another
	KnowledgeBase string `json:"knowledge_base,omitempty"`
	// published version of the documents attached to this run and others of the same enqueue command, see
	// knowledge.Attached; empty: none
	Attached string `json:"attached,omitempty"`
	UserInfo string `json:"user_info,omitempty"` // who asks and why, in the user's own words, for all prompts
	// published version of the knowledge base to use; empty: this machine's own
	KnowledgeVersion   string   `json:"knowledge_version,omitempty"`
	Pictures           bool     `json:"pictures,omitempty"` // show pictures of pages beside their claims
	Rephrase           bool     `json:"rephrase,omitempty"`
	RephraseIterations int      `json:"rephrase_iterations,omitempty"`
	DecomposeMode      string   `json:"decompose_mode"`
	SubTopics          int      `json:"sub_topics"`
	MaxParallel        int      `json:"max_parallel"` // blocks of this run in flight across all workers; 1 in series mode
	MaxIterations      int      `json:"max_iterations"`
	IterationMode      string   `json:"iteration_mode"`
	QueueMaxLength     int      `json:"queue_max_length"` // maximum number of blocks, planned and discovered
	NewTopicMinScore   float64  `json:"new_topic_min_score"`
	Tools              []string `json:"tools"` // enabled tool names, in the order shown to the model
	CitationStyle      string   `json:"citation_style"`
	Length             string   `json:"length,omitempty"`         // report length that the user wants, for the writers
	Audience           string   `json:"audience,omitempty"`       // readers of the report, for the writers
	QuotedWords        int      `json:"quoted_words,omitempty"`   // about, in a report without a model; 0: by preset
	OnUnsupported      string   `json:"on_unsupported,omitempty"` // UnsupportedMark (also when empty) or UnsupportedRemove
	Template           string   `json:"template,omitempty"`       // text of the report template; empty: none
	Formats            []string `json:"formats,omitempty"`        // report formats besides Markdown: "html", "docx"
	// exploratory or focused, already applied to the numbers above; empty: balanced
	Strategy   string `json:"strategy,omitempty"`
	MaxActions int    `json:"max_actions,omitempty"` // tool calls of one iteration; 0: the worker's setting

	Path         string `json:"path,omitempty"`           // one of the Path... constants
	MaxTurns     int    `json:"max_llm_turns,omitempty"`  // model calls of one conversation; 0: 10
	MaxToolCalls int    `json:"max_tool_calls,omitempty"` // tool calls of one conversation; 0: 5

	// maximum duration, counted from the start of planning; 0: no limit
	Duration    time.Duration `json:"duration_ns,omitempty"`
	WritingTime time.Duration `json:"writing_time_ns,omitempty"` // part of Duration reserved for the report; at most half
	// latest end of the run, including waiting time; zero: none
	Deadline time.Time `json:"deadline,omitzero"`
	// time after which a block starts no new iteration; 0: no limit
	BlockSoft time.Duration `json:"block_soft_ns,omitempty"`
	// time after which a block ends with the results it has; 0: no limit
	BlockHard time.Duration `json:"block_hard_ns,omitempty"`
	MaxLoops  int           `json:"max_loops,omitempty"` // number of reviews that may add blocks; one more does not
	Audio     string        `json:"audio,omitempty"`     // how the report is read aloud: one of the Audio... constants

	// updates the last run of this topic; the report lists the changes
	Incremental bool `json:"incremental,omitempty"`

	// the run may ask a person, who has AnswerTime for each answer (0: no limit)
	HumanInTheLoop bool          `json:"human_in_the_loop,omitempty"`
	AnswerTime     time.Duration `json:"answer_time_ns,omitempty"`
	ApprovePlan    bool          `json:"approve_plan,omitempty"` // that person must approve the plan

	// run whose report this run answers a question about, with PathShallow
	Follows string     `json:"follows,omitempty"`
	Earlier []FollowUp `json:"earlier,omitempty"` // earlier questions about it, with answers, latest last

	Plan []SubTopic `json:"plan,omitempty"` // blocks that the user wants, in order; empty: planning creates them

	Budget      Budget `json:"budget,omitzero"`       // of the run
	BatchBudget Budget `json:"batch_budget,omitzero"` // shared by all runs of the batch
	NightBudget Budget `json:"night_budget,omitzero"` // shared by all runs of a day
}

// FollowUp is a question about a report and its answer, in Markdown without references.
type FollowUp struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// Common reports whether the run shares a budget with other runs.
func (o Options) Common() bool { return o.BatchBudget.Amount() > 0 || o.NightBudget.Amount() > 0 }

// Limit returns the budget that determines the run's accounting unit; the zero value if there is none.
func (o Options) Limit() Budget {
	for _, b := range []Budget{o.Budget, o.BatchBudget, o.NightBudget} {
		if b.Amount() > 0 {
			return b
		}
	}
	return Budget{}
}

// Labels identify a topic for the user who submits it. They do not affect research.
type Labels struct {
	Ref  string   `json:"id,omitempty"` // the topic's id elsewhere, unique in its batch
	Tags []string `json:"tags,omitempty"`
}

// Run is the research of one topic, which produces one report.
type Run struct {
	ID      string  `json:"run_id"`
	Batch   string  `json:"batch"`
	Topic   string  `json:"topic"`
	Options Options `json:"options"`
	// suffix of the asynq queues that carry its tasks; empty for the shared queues
	Lane      string    `json:"lane,omitempty"`
	State     RunState  `json:"state"`
	Reason    string    `json:"reason,omitempty"` // why it is partial, failed or cancelled, for display
	Report    string    `json:"report,omitempty"` // storage key of the Markdown report
	CreatedAt time.Time `json:"created_at"`
	Labels
	Paused    bool      `json:"paused,omitempty"`    // no new work is started
	StartedAt time.Time `json:"started_at,omitzero"` // start of planning
	FinalAt   time.Time `json:"final_at,omitzero"`   // latest end of the run, whatever its state
	EndedAt   time.Time `json:"ended_at,omitzero"`

	Sealed      string    `json:"sealed,omitempty"`      // why research ended early: a deadline, a cancel
	SealAt      time.Time `json:"seal_at,omitzero"`      // end of research
	Unpublished string    `json:"unpublished,omitempty"` // why publishing failed, after a first attempt
	PublishedAt time.Time `json:"published_at,omitzero"` // when its bundle was complete

	Limit int64    `json:"limit,omitempty"` // current spending limit, in the unit of its budget
	Spent int64    `json:"spent,omitempty"` // in the same unit; 0 without a budget
	Cuts  []string `json:"cuts,omitempty"`  // cuts by the budget: Cut... constants

	Tally *Tally `json:"tally,omitempty"` // report figures for lists; nil: no report in storage

	Narration *Narration `json:"narration,omitempty"` // result of Options.Audio; nil: none yet

	Dialogue []Exchange `json:"dialogue,omitempty"` // questions to a person, in order

	ToolCalls map[string]ToolCalls `json:"tool_calls,omitempty"` // by tool; finished iterations of its blocks only
}

// Tally holds the figures of a run for lists of runs. The report's metadata has the rest.
type Tally struct {
	Sentences   int     `json:"sentences,omitempty"` // sentences of the report with citations
	Supported   int     `json:"supported,omitempty"`
	Unsupported int     `json:"unsupported,omitempty"`
	Quotes      bool    `json:"quotes,omitempty"`  // the report consists of quotations only
	Since       string  `json:"since,omitempty"`   // day of the report that it updates; empty: none
	Changes     int     `json:"changes,omitempty"` // number of changes since then
	Calls       int     `json:"calls,omitempty"`   // model calls
	Tokens      int     `json:"tokens,omitempty"`
	CostUSD     float64 `json:"cost_usd,omitempty"`
	Unpriced    int     `json:"unpriced,omitempty"` // calls of unknown cost
}

// Mentions reports whether the topic, the ids or the tags contain a text. It ignores case and surrounding space.
func (r Run) Mentions(text string) bool {
	said := strings.Join([]string{r.Topic, r.Ref, r.ID, strings.Join(r.Tags, ", ")}, "\n")
	return strings.Contains(strings.ToLower(said), strings.ToLower(strings.TrimSpace(text)))
}

// Date returns the day of the run, YYYY-MM-DD in UTC, for prompts. It is the day when the run started, not the
// attempt, because a repeated question must be identical. A run that has not started uses now.
func (r Run) Date(now time.Time) string {
	if !r.StartedAt.IsZero() {
		now = r.StartedAt
	}
	return now.UTC().Format(time.DateOnly)
}

// TopicKey returns the canonical form of a topic, which identifies equal topics of a batch: NFKC, lower case, white
// space folded, trailing punctuation dropped. topic: UTF-8 of any length. Never fails.
func TopicKey(topic string) string {
	s := strings.ToLower(norm.NFKC.String(topic))
	return strings.TrimRightFunc(strings.Join(strings.Fields(s), " "), func(r rune) bool {
		return unicode.IsPunct(r) || unicode.IsSpace(r)
	})
}

var runIDEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// RunID returns research_YYYYMMDD_HHMMSS_ followed by ten base32 characters (50 bits) of SHA-256 over batch, topic
// key and due time. created is the batch's creation time, shown in UTC; due is empty for a topic that is enqueued
// once. Equal arguments give equal ids.
func RunID(batch, topic, due string, created time.Time) string {
	sum := sha256.Sum256([]byte(batch + "\x00" + TopicKey(topic) + "\x00" + due))
	return "research_" + created.UTC().Format("20060102_150405") + "_" + runIDEncoding.EncodeToString(sum[:])[:10]
}
