package topicqueue

import (
	"context"
	"encoding/json"
	"time"
)

// The statuses of the event schema; each names its payload type.
const (
	StatusPipelineStep      = "pipeline_step"
	StatusProgress          = "ir_progress"
	StatusResearchQuestions = "research_questions"
	StatusThought           = "thought_status"
	StatusReference         = "reference"
	StatusQuestionDone      = "ir_question_done"
	StatusSummaryStatistics = "summary_statistics"
	StatusReport            = "report"   // untyped: the report's storage key
	StatusComplete          = "complete" // untyped: ends the stream
)

// The step keys that nightdesk sends in a PipelineStep.
const (
	StepStartQueryRewriter         = "start_query_rewriter"
	StepEndQueryRewriter           = "end_query_rewriter"
	StepEndQueryRewriterNoFeedback = "end_query_rewriter_no_feedback"
	StepStartSearchBackground      = "start_search_background"
	StepEndSearchBackground        = "end_search_background"
	StepFailSearchBackground       = "fail_search_background"
	StepStartResearchPlanner       = "start_research_planner"
	StepEndResearchPlanner         = "end_research_planner"
	StepFailResearchPlanner        = "fail_research_planner"
	StepStartIterativeResearch     = "start_iterative_research"
	StepTaskFailed                 = "iterative_research_task_failed"
	StepPipelineAborted            = "iterative_research_pipeline_aborted"
	StepStartAuthor                = "start_author"
	StepEndAuthor                  = "end_author"
	StepFailAuthor                 = "fail_author"
)

// Placement says where an event belongs on a screen: wave of blocks, lane within the wave, step of the lane, call of
// the step. All count from 0.
type Placement struct {
	Wave int `json:"wave"`
	Lane int `json:"lane"`
	Step int `json:"step"`
	Call int `json:"call"`
}

// Event is one message of a run's stream. Seq counts from 1 without gaps.
type Event struct {
	Seq       int64           `json:"seq"`
	Time      time.Time       `json:"time"`
	RunID     string          `json:"run_id"`
	BlockID   string          `json:"block_id,omitempty"`
	Attempt   int             `json:"attempt"` // generation of the stage or block that sent it
	Placement Placement       `json:"placement"`
	Status    string          `json:"status"`
	Content   json.RawMessage `json:"content"`
	Metadata  json.RawMessage `json:"metadata,omitempty"` // our own additions
	Key       string          `json:"-"`                  // an event with a key is appended once per run; empty = always
}

// Emit appends events to a run's stream. It fills in Seq, Time, RunID, BlockID and Attempt.
// An error means that the stream could not be written or that the caller no longer holds its lease.
type Emit func(ctx context.Context, events ...Event) error

// NewEvent returns an event with this payload. key: see Event.Key; for example "start_author" or "block_3/2/thought".
func NewEvent(key, status string, payload any) Event {
	content, err := json.Marshal(payload)
	if err != nil { // payloads are this package's structs: a failure is a bug, shown and not hidden
		content, _ = json.Marshal("unencodable payload: " + err.Error())
	}
	return Event{Key: key, Status: status, Content: content}
}

// StepEvent returns a pipeline_step event that is appended once per run.
func StepEvent(stepKey, info string) Event {
	return NewEvent(stepKey, StatusPipelineStep, PipelineStep{StepKey: stepKey, Info: info})
}

// The payloads of the typed statuses.
type (
	PipelineStep struct {
		StepKey string `json:"step_key"`
		Info    string `json:"info"`
	}
	Progress struct {
		ProcessedTasks int `json:"processed_tasks"`
		TotalTask      int `json:"total_task"`
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
		UsedTime   float64 `json:"used_time"`   // minutes
		WebsiteNum int     `json:"website_num"` // distinct hosts of web sources
	}
)
