package topicqueue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// The statuses of the event schema, which are also the type of the content. The first seven and their fields come
// from the schema. It leaves the content of the others open; ours points to files in storage.
const (
	StatusPipelineStep      = "pipeline_step"
	StatusProgress          = "ir_progress"
	StatusResearchQuestions = "research_questions"
	StatusThought           = "thought_status"
	StatusReference         = "reference"
	StatusQuestionDone      = "ir_question_done"
	StatusSummaryStatistics = "summary_statistics"

	StatusWait     = "wait"     // Wait: the run waits for an answer from the user
	StatusReport   = "report"   // ReportFile
	StatusHTML     = "html"     // RenderedFile
	StatusDOCX     = "docx"     // RenderedFile
	StatusAudio    = "audio"    // RenderedFile: the narration
	StatusComplete = "complete" // Complete: ends the stream

	// StatusDelta is a piece of an answer that a model is writing: Delta. It has no number, is never stored in a
	// stream, and reaches only live readers.
	StatusDelta = "delta"

	// StatusGap is never stored in a stream. A reader that passes events on inserts it for missing events.
	StatusGap = "gap"
)

// The step keys of a PipelineStep that a run sends. The schema has five more, which are never sent:
// iterative_research_question_done, for which StatusQuestionDone exists, and thought_status, log_refs, print_task and
// end_pipeline, which describe actions of its own reader.
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
	StepStartIterativeResearch     = "start_iterative_research" // no end of its own: start_author closes it
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

// Placement is the position of an event on a screen. All fields count from 0.
//
// A wave groups events that may overlap: planning, then the research of all blocks, then the report. Within a wave,
// lane 0 belongs to the run and lane n to block n, across all attempts. The events of a lane are its steps in order;
// several events of one step are its calls.
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
	// generation of the sending stage or block; 0: sent by neither, as for a cancel or a deadline
	Attempt   int             `json:"attempt"`
	Placement Placement       `json:"placement"`
	Status    string          `json:"status"`
	Content   json.RawMessage `json:"content"`            // an object; in the stream its type is the status
	Metadata  json.RawMessage `json:"metadata,omitempty"` // additions to the schema
	Key       string          `json:"-"`                  // appended once per epoch of a run; empty = always
}

// Emit appends events to a run's stream. It fills in Seq, Time, RunID, BlockID, Attempt, the type of the content, and
// the placement. The sender sets only Placement.Call: an event with Call > 0 belongs to the step of the event before
// it. An error means that the stream could not be written or that the caller no longer holds its lease.
type Emit func(ctx context.Context, events ...Event) error

// NewEvent returns an event whose content is payload, one of the payload types below.
//
// key: see Event.Key; for example "start_author" or "block_3/2/thought".
func NewEvent(key, status string, payload any) Event {
	content, err := json.Marshal(payload)
	if err != nil { // payloads are structs of this package, so a failure is a bug and must be visible
		content, _ = json.Marshal(map[string]string{"unencodable_payload": err.Error()})
	}
	return Event{Key: key, Status: status, Content: content}
}

// StepEvent returns a pipeline_step event that is appended once per epoch of a run. All endings of a step share one
// key, so an attempt that ends the step differently from an earlier attempt adds nothing.
func StepEvent(stepKey, info string) Event {
	key := stepKey
	if step := Closes(stepKey); step != "" {
		key = "close_" + step
	}
	return NewEvent(key, StatusPipelineStep, PipelineStep{StepKey: stepKey, Info: info})
}

// Closes returns the step that a step key ends, such as start_author for fail_author; empty if it ends none.
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

// About is an addition to the metadata of a block's events.
type About struct {
	Title     string `json:"title,omitempty"`     // block title, in its first thought
	Iteration int    `json:"iteration,omitempty"` // counted from 1
	Tool      string `json:"tool,omitempty"`      // tool that returned these references
	Query     string `json:"query,omitempty"`     // query of that call

	// For a thought:
	Sufficient bool       `json:"sufficient,omitempty"` // the block has enough evidence
	Calls      []ToolCall `json:"calls,omitempty"`      // the calls that follow
}

// ToolCall is a tool call as shown to readers of the stream.
type ToolCall struct {
	Tool  string `json:"tool"`
	Query string `json:"query"`
}

// Result reports whether the event is for readers who want results only: the report in all forms, questions to the
// user, the end, and gaps.
func (e Event) Result() bool {
	switch e.Status {
	case StatusReport, StatusHTML, StatusDOCX, StatusAudio, StatusWait, StatusComplete, StatusGap:
		return true
	}
	return false
}

// With returns the event with metadata added. Metadata that cannot be encoded is ignored.
func (e Event) With(metadata any) Event {
	if data, err := json.Marshal(metadata); err == nil {
		e.Metadata = data
	}
	return e
}

// Gap is the error for missing events: the stream was trimmed because it grew too long, or has expired. Events From
// to To are missing; reading continues after To. If To < From, the stream ends at To, before the reader's position:
// the server lost its latest data, and the events after To will be different.
type Gap struct {
	RunID    string `json:"-"`
	From, To int64
}

func (g *Gap) Error() string {
	if g.To < g.From {
		return fmt.Sprintf("the events of run %s end at %d, before the requested %d", g.RunID, g.To, g.From)
	}
	return fmt.Sprintf("the events %d to %d of run %s are no longer kept", g.From, g.To, g.RunID)
}

// Event returns the gap as an event, for readers that pass events on. Reading resumes after its Seq.
func (g *Gap) Event(now time.Time) Event {
	e := NewEvent("", StatusGap, struct {
		Type string `json:"type"`
		From int64  `json:"from"`
		To   int64  `json:"to"`
	}{StatusGap, g.From, g.To})
	e.Seq, e.Time, e.RunID = g.To, now, g.RunID
	return e
}

// Payloads of events.
type (
	PipelineStep struct {
		StepKey string `json:"step_key"`
		Info    string `json:"info"`
	}
	// Progress announces the lanes of research: a block's events come only after a Progress that counts the block.
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
		UsedTime   float64 `json:"used_time"`   // minutes since the start of planning
		WebsiteNum int     `json:"website_num"` // distinct hosts in the references of the run
	}
	Delta struct {
		Step   string `json:"step"`   // kind of model call: plan, decide, note, section, ...
		Answer string `json:"answer"` // answer to which this piece belongs; a retry has a new name
		Text   string `json:"text"`
		Done   bool   `json:"done"` // last piece
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
		Reason string   `json:"reason"` // in words; empty if all went well
	}
)
