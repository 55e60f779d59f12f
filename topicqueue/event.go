package topicqueue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// The statuses of the event schema, which are also the type of the content. The first seven and their fields are the
// schema's; it leaves the content of the others open, and ours points to files in storage.
const (
	StatusPipelineStep      = "pipeline_step"
	StatusProgress          = "ir_progress"
	StatusResearchQuestions = "research_questions"
	StatusThought           = "thought_status"
	StatusReference         = "reference"
	StatusQuestionDone      = "ir_question_done"
	StatusSummaryStatistics = "summary_statistics"

	StatusWait     = "wait"     // Wait: an answer of the user is waited for
	StatusReport   = "report"   // ReportFile
	StatusHTML     = "html"     // RenderedFile
	StatusDOCX     = "docx"     // RenderedFile
	StatusAudio    = "audio"    // RenderedFile: the narration
	StatusComplete = "complete" // Complete: ends the stream

	// StatusDelta is a piece of an answer that a model is writing: Delta. It has no number, is in no stream, and comes
	// to those only who read along.
	StatusDelta = "delta"

	// StatusGap never stands in a stream: a reader that passes events on puts it where events are missing.
	StatusGap = "gap"
)

// The step keys of a PipelineStep that have a place in a run. The schema has five more, which are never sent:
// iterative_research_question_done, which StatusQuestionDone says, and thought_status, log_refs, print_task and
// end_pipeline, which name what its own reader does.
const (
	StepStartFollowUp              = "start_follow_up"
	StepEndFollowUpPos             = "end_follow_up_pos" // the user has answered
	StepEndFollowUpNeg             = "end_follow_up_neg" // there was nothing to ask
	StepFailClarification          = "fail_clarification"
	StepStartQueryRewriter         = "start_query_rewriter"
	StepEndQueryRewriter           = "end_query_rewriter"
	StepEndQueryRewriterNoFeedback = "end_query_rewriter_no_feedback"
	StepStartSearchBackground      = "start_search_background"
	StepEndSearchBackground        = "end_search_background"
	StepFailSearchBackground       = "fail_search_background"
	StepStartResearchPlanner       = "start_research_planner"
	StepEndResearchPlanner         = "end_research_planner"
	StepFailResearchPlanner        = "fail_research_planner"
	StepStartIterativeResearch     = "start_iterative_research" // has no end: start_author closes it
	StepTaskFailed                 = "iterative_research_task_failed"
	StepPipelineAborted            = "iterative_research_pipeline_aborted"
	StepStartAuthor                = "start_author"
	StepEndAuthor                  = "end_author"
	StepFailAuthor                 = "fail_author"
	StepStartRenderReport          = "start_render_report"
	StepEndRenderReport            = "end_render_report"
	StepFailPartialRenderReport    = "fail_partial_render_report"
	StepFailAllRenderReport        = "fail_all_render_report"
	StepStartAudio                 = "start_audio"
	StepEndAudio                   = "end_audio"
	StepFailAudio                  = "fail_audio"
)

// Placement says where an event belongs on a screen. All count from 0.
//
// A wave is what may overlap: planning, then the research of all blocks, then the report. Within a wave, lane 0 is the
// run's own and lane n that of block n, whatever attempt works it. The events of a lane are its steps in order; several
// events of one step are its calls.
type Placement struct {
	Wave int `json:"wave"`
	Lane int `json:"lane"`
	Step int `json:"step"`
	Call int `json:"call"`
}

// Event is one message of a run's stream. Seq counts from 1 without gaps.
type Event struct {
	Seq     int64     `json:"seq"`
	Time    time.Time `json:"time"`
	RunID   string    `json:"run_id"`
	BlockID string    `json:"block_id,omitempty"`
	// generation of the stage or block that sent it; 0: nobody, a cancel or a deadline
	Attempt   int             `json:"attempt"`
	Placement Placement       `json:"placement"`
	Status    string          `json:"status"`
	Content   json.RawMessage `json:"content"`            // an object; in the stream its type is the status
	Metadata  json.RawMessage `json:"metadata,omitempty"` // our own additions
	Key       string          `json:"-"`                  // an event with a key is appended once per run; empty = always
}

// Emit appends events to a run's stream. It fills in Seq, Time, RunID, BlockID, Attempt, the type of the content, and
// the placement, of which the sender gives Call only: an event with Call > 0 belongs to the step of the one before it.
// An error means that the stream could not be written or that the caller no longer holds its lease.
type Emit func(ctx context.Context, events ...Event) error

// NewEvent returns an event with this payload, one of those below.
//
// key: see Event.Key; for example "start_author" or "block_3/2/thought".
func NewEvent(key, status string, payload any) Event {
	content, err := json.Marshal(payload)
	if err != nil { // payloads are this package's structs: a failure is a bug, shown and not hidden
		content, _ = json.Marshal(map[string]string{"unencodable_payload": err.Error()})
	}
	return Event{Key: key, Status: status, Content: content}
}

// StepEvent returns a pipeline_step event that is appended once per run. The ways in which one step can end count as
// the same event: an attempt that ends it otherwise than the one before adds nothing.
func StepEvent(stepKey, info string) Event {
	key := stepKey
	if step := Closes(stepKey); step != "" {
		key = "close_" + step
	}
	return NewEvent(key, StatusPipelineStep, PipelineStep{StepKey: stepKey, Info: info})
}

// Closes returns the step that a step key ends, such as start_author for fail_author; empty when it ends none.
func Closes(stepKey string) string {
	switch stepKey {
	case StepEndFollowUpPos, StepEndFollowUpNeg, StepFailClarification:
		return StepStartFollowUp
	case StepEndQueryRewriter, StepEndQueryRewriterNoFeedback:
		return StepStartQueryRewriter
	case StepEndSearchBackground, StepFailSearchBackground:
		return StepStartSearchBackground
	case StepEndResearchPlanner, StepFailResearchPlanner:
		return StepStartResearchPlanner
	case StepEndAuthor, StepFailAuthor:
		return StepStartAuthor
	case StepEndRenderReport, StepFailPartialRenderReport, StepFailAllRenderReport:
		return StepStartRenderReport
	case StepEndAudio, StepFailAudio:
		return StepStartAudio
	}
	return ""
}

// About is our own addition to the events of a block, in their metadata.
type About struct {
	Title     string `json:"title,omitempty"`     // of the block, in its first thought
	Iteration int    `json:"iteration,omitempty"` // counted from 1
	Tool      string `json:"tool,omitempty"`      // that was called for these references
	Query     string `json:"query,omitempty"`     // that it was called with

	// Of a thought:
	Sufficient bool       `json:"sufficient,omitempty"` // the block has enough
	Calls      []ToolCall `json:"calls,omitempty"`      // that follow
}

// ToolCall is a call of a tool as readers of the stream are told of it.
type ToolCall struct {
	Tool  string `json:"tool"`
	Query string `json:"query"`
}

// Result reports whether the event is for readers who want results only: the report in all forms, questions to the
// user, the end, and what is missing.
func (e Event) Result() bool {
	switch e.Status {
	case StatusReport, StatusHTML, StatusDOCX, StatusAudio, StatusWait, StatusComplete, StatusGap:
		return true
	}
	return false
}

// With returns the event with this metadata.
func (e Event) With(metadata any) Event {
	if data, err := json.Marshal(metadata); err == nil {
		e.Metadata = data
	}
	return e
}

// Gap is the error of a reader whose next event is not there: the stream was cut because it grew too long, or has
// expired. Events From to To are missing; reading goes on after To. With To < From the stream ends at To, before what
// the reader has seen: the server lost its last moments, and the events after To will be others.
type Gap struct {
	RunID    string `json:"-"`
	From, To int64
}

func (g *Gap) Error() string {
	if g.To < g.From {
		return fmt.Sprintf("the events of run %s end at %d, before the %d that was asked for", g.RunID, g.To, g.From)
	}
	return fmt.Sprintf("the events %d to %d of run %s are no longer kept", g.From, g.To, g.RunID)
}

// Event returns the gap as a message, for readers that pass events on. Reading resumes after its Seq.
func (g *Gap) Event(now time.Time) Event {
	e := NewEvent("", StatusGap, struct {
		Type string `json:"type"`
		From int64  `json:"from"`
		To   int64  `json:"to"`
	}{StatusGap, g.From, g.To})
	e.Seq, e.Time, e.RunID = g.To, now, g.RunID
	return e
}

// The payloads.
type (
	PipelineStep struct {
		StepKey string `json:"step_key"`
		Info    string `json:"info"`
	}
	// Progress announces the lanes of research: no event of a block comes before a Progress that counts it.
	Progress struct {
		ProcessedTasks int `json:"processed_tasks"`
		TotalTask      int `json:"total_task"` // never smaller than before
	}
	ResearchQuestions struct {
		Questions []string `json:"questions"`
	}
	Thought struct {
		QuestionID int    `json:"question_id"` // number of the block
		Thought    string `json:"thought"`
	}
	Reference struct {
		QuestionID int               `json:"question_id"`
		References map[string]string `json:"references"` // URL or document key -> description
	}
	QuestionDone struct {
		QuestionID int    `json:"question_id"`
		Status     string `json:"status"` // done or failed
		Message    string `json:"message,omitempty"`
	}
	SummaryStatistics struct {
		UsedTime   float64 `json:"used_time"`   // minutes since the begin of planning
		WebsiteNum int     `json:"website_num"` // distinct hosts in the references of the run
	}
	Delta struct {
		Step   string `json:"step"`   // what is asked of the model: plan, decide, note, section, ...
		Answer string `json:"answer"` // that the pieces with the same name belong to; a second try has another
		Text   string `json:"text"`
		Done   bool   `json:"done"` // it was the last piece
	}
	Wait struct {
		Question string `json:"question"`
	}
	ReportFile struct {
		Report string `json:"report"` // storage key of the Markdown report
		Title  string `json:"title"`
	}
	RenderedFile struct {
		File string `json:"file"` // storage key
	}
	Complete struct {
		State  RunState `json:"state"`
		Reason string   `json:"reason"` // for a person; empty when all went well
	}
)
