package bundle

import (
	"encoding/json"
	"fmt"
	"time"

	"nightdesk/topicqueue"
)

// progressFile is planning_progress.json, researching_progress.json or reporting_progress.json: the events of one stage
// under the names that readers of such files know.
type progressFile struct {
	ResearchID     string          `json:"research_id"`
	Stage          string          `json:"stage"`
	InputTopic     string          `json:"input_topic"`
	OptimizedTopic string          `json:"optimized_topic"`
	Events         []progressEvent `json:"events"`
}

type progressEvent struct {
	Status    string          `json:"status"`
	Timestamp time.Time       `json:"timestamp"`
	BlockID   string          `json:"block_id,omitempty"`
	Payload   json.RawMessage `json:"payload"`
}

// The stages, which are also the names of their files.
const (
	stagePlanning    = "planning"
	stageResearching = "researching"
	stageReporting   = "reporting"
)

// progressNames says in which stage and under which name an event is listed. The key is the step key of a pipeline
// step, the status of any other event. What is not here is in events.jsonl only.
var progressNames = map[string][][2]string{
	topicqueue.StepStartQueryRewriter:         {{stagePlanning, "planning_started"}},
	topicqueue.StepEndQueryRewriter:           {{stagePlanning, "rephrase_completed"}},
	topicqueue.StepEndQueryRewriterNoFeedback: {{stagePlanning, "rephrase_skipped"}},
	topicqueue.StepStartResearchPlanner:       {{stagePlanning, "decompose_started"}},
	topicqueue.StatusResearchQuestions:        {{stagePlanning, "decompose_completed"}},
	topicqueue.StepEndResearchPlanner:         {{stagePlanning, "planning_completed"}},
	topicqueue.StepFailResearchPlanner:        {{stagePlanning, "planning_failed"}},
	topicqueue.StepStartIterativeResearch:     {{stageResearching, "researching_started"}},
	topicqueue.StatusThought:                  {{stageResearching, "iteration_started"}},
	topicqueue.StatusReference:                {{stageResearching, "iteration_completed"}},
	topicqueue.StatusProgress:                 {{stageResearching, "parallel_status_update"}},
	topicqueue.StatusQuestionDone:             {{stageResearching, "block_completed"}},
	topicqueue.StepTaskFailed:                 {{stageResearching, "block_failed"}},
	topicqueue.StepStartAuthor: {{stageResearching, "researching_completed"},
		{stageReporting, "reporting_started"}},
	topicqueue.StepEndAuthor:  {{stageReporting, "writing_completed"}},
	topicqueue.StepFailAuthor: {{stageReporting, "reporting_failed"}},
	topicqueue.StatusReport:   {{stageReporting, "reporting_completed"}},
}

// putProgress stores the progress files made of a run's events.
func (b *Writer) putProgress(events []topicqueue.Event) error {
	for _, stage := range []string{stagePlanning, stageResearching, stageReporting} {
		f := progressFile{
			ResearchID: b.In.Run.ID, Stage: stage, InputTopic: b.In.Run.Topic, OptimizedTopic: b.In.Plan.Topic,
			Events: []progressEvent{},
		}
		for _, e := range events {
			name := e.Status
			if e.Status == topicqueue.StatusPipelineStep {
				var s topicqueue.PipelineStep
				if err := json.Unmarshal(e.Content, &s); err != nil {
					return fmt.Errorf("event %d of run %s: %w", e.Seq, b.In.Run.ID, err)
				}
				name = s.StepKey
			}
			for _, listed := range progressNames[name] {
				if listed[0] == stage {
					f.Events = append(f.Events, progressEvent{Status: listed[1], Timestamp: e.Time, BlockID: e.BlockID,
						Payload: e.Content})
				}
			}
		}
		if err := b.files.PutJSON(b.cacheKey(stage+"_progress.json"), f); err != nil {
			return err
		}
	}
	return nil
}
