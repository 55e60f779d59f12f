package topicqueue

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// RunState is where a run stands on its way from topic to report.
type RunState string

// The states of a run. Partial means that a report exists but blocks failed or the writer fell back.
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

// Final reports whether a run in this state never changes again by itself.
func (s RunState) Final() bool {
	switch s {
	case RunCompleted, RunPartial, RunFailed, RunCancelled:
		return true
	}
	return false
}

// How the blocks of a run are iterated, how its topic is cut up and how its report cites.
const (
	IterationFixed    = "fixed"    // every iteration is done
	IterationFlexible = "flexible" // a block stops when its evidence suffices
	DecomposeManual   = "manual"   // exactly Options.SubTopics
	DecomposeAuto     = "auto"     // at most Options.SubTopics
	CitationAnchors   = "anchors"  // [[CIT-3-01](#ref-cit-3-01)]
	CitationNumbered  = "numbered" // [1]

	UnsupportedMark   = "mark"   // a sentence that its sources do not bear out says so
	UnsupportedRemove = "remove" // it is taken out
)

// The ways from a topic to its report.
const (
	PathDeep    = ""        // sub-topics are researched, and a report is written of what they found
	PathShallow = "shallow" // one conversation with a model answers it
	PathRoute   = "route"   // a model chooses between these two
)

// Options are the settings of one run. They are resolved from preset and configuration when the run is enqueued and
// frozen with it, so that every worker treats it alike.
type Options struct {
	Preset        string `json:"preset"`
	Language      string `json:"language"` // BCP 47 primary tag of the report, "en" or "zh" or another
	KnowledgeBase string `json:"knowledge_base,omitempty"`
	// Attached is the published version of the documents that belong to this run and others of its enqueueing, see
	// knowledge.Attached; empty: none.
	Attached string `json:"attached,omitempty"`
	UserInfo string `json:"user_info,omitempty"` // who asks and for what, in the user's own words, for all prompts
	// published one that the run uses; empty: this machine's
	KnowledgeVersion   string   `json:"knowledge_version,omitempty"`
	Pictures           bool     `json:"pictures,omitempty"` // of pages are shown beside the claims that they belong to
	Rephrase           bool     `json:"rephrase,omitempty"`
	RephraseIterations int      `json:"rephrase_iterations,omitempty"`
	DecomposeMode      string   `json:"decompose_mode"`
	SubTopics          int      `json:"sub_topics"`
	MaxParallel        int      `json:"max_parallel"` // blocks of this run in flight over all workers; 1 in series mode
	MaxIterations      int      `json:"max_iterations"`
	IterationMode      string   `json:"iteration_mode"`
	QueueMaxLength     int      `json:"queue_max_length"` // blocks, planned and discovered
	NewTopicMinScore   float64  `json:"new_topic_min_score"`
	Tools              []string `json:"tools"` // enabled tool names, in the order shown to the model
	CitationStyle      string   `json:"citation_style"`
	Length             string   `json:"length,omitempty"`         // that the user wants of the report, for its writers
	Audience           string   `json:"audience,omitempty"`       // who reads the report, for its writers
	OnUnsupported      string   `json:"on_unsupported,omitempty"` // UnsupportedMark (also when empty) or UnsupportedRemove
	Template           string   `json:"template,omitempty"`       // text of the report's template; empty: none
	Formats            []string `json:"formats,omitempty"`        // of the report beside Markdown, "html", "docx"
	// exploratory or focused, which the numbers above follow already; empty: balanced
	Strategy   string `json:"strategy,omitempty"`
	MaxActions int    `json:"max_actions,omitempty"` // tool calls of one iteration; 0: as the worker is set

	Path         string `json:"path,omitempty"`           // one of the Path... constants
	MaxTurns     int    `json:"max_llm_turns,omitempty"`  // questions to the model of one conversation; 0: 10
	MaxToolCalls int    `json:"max_tool_calls,omitempty"` // of one conversation, each call counted; 0: 5

	// from the begin of planning to the end; 0 = without limit
	Duration    time.Duration `json:"duration_ns,omitempty"`
	WritingTime time.Duration `json:"writing_time_ns,omitempty"` // of it, kept for the report; at most half is
	// the run has ended by then, waiting included; zero = none
	Deadline time.Time `json:"deadline,omitzero"`
	// after it a block begins no new iteration; 0 = without limit
	BlockSoft time.Duration `json:"block_soft_ns,omitempty"`
	// after it a block ends with what it has; 0 = without limit
	BlockHard time.Duration `json:"block_hard_ns,omitempty"`
	MaxLoops  int           `json:"max_loops,omitempty"` // reviews that may add blocks
	Audio     string        `json:"audio,omitempty"`     // how the report is read aloud: one of the Audio... constants

	// it goes on from the last run of this topic, and its report says what has changed
	Incremental bool `json:"incremental,omitempty"`

	// a person may be asked, who has AnswerTime for each answer (0 = for ever)
	HumanInTheLoop bool          `json:"human_in_the_loop,omitempty"`
	AnswerTime     time.Duration `json:"answer_time_ns,omitempty"`
	ApprovePlan    bool          `json:"approve_plan,omitempty"` // that person approves the plan first

	// it answers a question about the report of this run, of its path PathShallow
	Follows string     `json:"follows,omitempty"`
	Earlier []FollowUp `json:"earlier,omitempty"` // the questions before it, with their answers, the latest last

	Plan []SubTopic `json:"plan,omitempty"` // the blocks that the user wants, in this order; empty: planning makes them

	Budget      Budget `json:"budget,omitzero"`       // of the run
	BatchBudget Budget `json:"batch_budget,omitzero"` // of all runs of its batch together
	NightBudget Budget `json:"night_budget,omitzero"` // of all runs of a day together
}

// FollowUp is a question about a report, and its answer, Markdown without its references.
type FollowUp struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// Common reports whether the run shares a budget with others.
func (o Options) Common() bool { return o.BatchBudget.Amount() > 0 || o.NightBudget.Amount() > 0 }

// Limit returns the budget whose unit the accounts of the run are in; the zero value without any.
func (o Options) Limit() Budget {
	for _, b := range []Budget{o.Budget, o.BatchBudget, o.NightBudget} {
		if b.Amount() > 0 {
			return b
		}
	}
	return Budget{}
}

// Labels are what whoever hands in a topic knows it by. They change nothing of its research.
type Labels struct {
	Ref  string   `json:"id,omitempty"` // the topic's id elsewhere, one of a kind in its batch
	Tags []string `json:"tags,omitempty"`
}

// Run is one topic on its way to one report.
type Run struct {
	ID      string  `json:"run_id"`
	Batch   string  `json:"batch"`
	Topic   string  `json:"topic"`
	Options Options `json:"options"`
	// suffix of the asynq queues that carry its tasks; empty for the shared ones
	Lane      string    `json:"lane,omitempty"`
	State     RunState  `json:"state"`
	Reason    string    `json:"reason,omitempty"` // why it is partial, failed or cancelled, for a person
	Report    string    `json:"report,omitempty"` // storage key of the Markdown report
	CreatedAt time.Time `json:"created_at"`
	Labels
	Paused    bool      `json:"paused,omitempty"`    // nothing new is begun
	StartedAt time.Time `json:"started_at,omitzero"` // begin of planning
	FinalAt   time.Time `json:"final_at,omitzero"`   // the run ends then, whatever there is
	EndedAt   time.Time `json:"ended_at,omitzero"`

	Sealed      string    `json:"sealed,omitempty"`      // why research was ended early: a deadline, a cancel
	SealAt      time.Time `json:"seal_at,omitzero"`      // research ends then
	Unpublished string    `json:"unpublished,omitempty"` // why it is not, after a first attempt
	PublishedAt time.Time `json:"published_at,omitzero"` // its bundle is whole

	Limit int64    `json:"limit,omitempty"` // that it may spend, in the unit of its budget, now
	Spent int64    `json:"spent,omitempty"` // in that unit; 0 without a budget
	Cuts  []string `json:"cuts,omitempty"`  // what the budget has cut: the Cut... constants

	Tally *Tally `json:"tally,omitempty"` // what lists show of the report; nil: there is none in storage

	Narration *Narration `json:"narration,omitempty"` // what came of Options.Audio; nil: nothing so far

	Dialogue []Exchange `json:"dialogue,omitempty"` // what it has asked a person, in order

	ToolCalls map[string]ToolCalls `json:"tool_calls,omitempty"` // of its blocks' finished iterations, by tool
}

// Tally counts what a run has come to, for lists of runs. The metadata of its report says the rest.
type Tally struct {
	Sentences   int     `json:"sentences,omitempty"` // of the report, with citations
	Supported   int     `json:"supported,omitempty"`
	Unsupported int     `json:"unsupported,omitempty"`
	Quotes      bool    `json:"quotes,omitempty"`  // it shows quotations and says nothing of its own
	Since       string  `json:"since,omitempty"`   // day of the report that it goes on from; empty: from none
	Changes     int     `json:"changes,omitempty"` // since then
	Calls       int     `json:"calls,omitempty"`   // of models
	Tokens      int     `json:"tokens,omitempty"`
	CostUSD     float64 `json:"cost_usd,omitempty"`
	Unpriced    int     `json:"unpriced,omitempty"` // calls whose cost is not known
}

// Date returns the day of the run, YYYY-MM-DD in UTC, as prompts say it: that of its start and not of the attempt,
// since a question that is asked again must be the same. now: for a run that has not started.
func (r Run) Date(now time.Time) string {
	if !r.StartedAt.IsZero() {
		now = r.StartedAt
	}
	return now.UTC().Format(time.DateOnly)
}

// TopicKey returns the canonical form of a topic by which equal topics of a batch are recognised: NFKC, lower case,
// white space folded, trailing punctuation dropped. topic: UTF-8 of any length. Never fails.
func TopicKey(topic string) string {
	s := strings.ToLower(norm.NFKC.String(topic))
	return strings.TrimRightFunc(strings.Join(strings.Fields(s), " "), func(r rune) bool {
		return unicode.IsPunct(r) || unicode.IsSpace(r)
	})
}

var runIDEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// RunID returns research_YYYYMMDD_HHMMSS_ followed by ten base32 characters (50 bits) of SHA-256 over batch, topic key
// and due time. created is the batch's creation, shown in UTC; due is empty for a topic that is enqueued once.
// The same enqueue always makes the same id.
func RunID(batch, topic, due string, created time.Time) string {
	sum := sha256.Sum256([]byte(batch + "\x00" + TopicKey(topic) + "\x00" + due))
	return "research_" + created.UTC().Format("20060102_150405") + "_" + runIDEncoding.EncodeToString(sum[:])[:10]
}

type runKey struct{}

// ForRun returns a context that knows for which run something is done.
func ForRun(ctx context.Context, runID string) context.Context {
	return context.WithValue(ctx, runKey{}, runID)
}

// RunOf returns for which run something is done; empty when that is not known.
func RunOf(ctx context.Context) string {
	run, _ := ctx.Value(runKey{}).(string)
	return run
}
