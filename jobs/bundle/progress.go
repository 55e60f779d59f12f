package bundle

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

// progressFile is planning_progress.json, researching_progress.json or reporting_progress.json: the events of one
// stage, under the names that readers of such files expect.
type progressFile struct {
	ResearchID     string          `json:"research_id"`
	Stage          string          `json:"stage"`
	InputTopic     string          `json:"input_topic"`
	OptimizedTopic string          `json:"optimized_topic"`
	Events         []progressEvent `json:"events"`
}

type progressEvent struct {
	Status    string    `json:"status"`
	Timestamp time.Time `json:"timestamp"`
	BlockID   string    `json:"block_id,omitempty"`
	Payload   any       `json:"payload"`
}

// Stages, which are also used in the file names.
const (
	stagePlanning    = "planning"
	stageResearching = "researching"
	stageReporting   = "reporting"
)

// progressNames maps an event to the stages and names under which it is listed unchanged. The key is the step key of a
// pipeline step, or the status of any other event.
var progressNames = map[string][][2]string{
	topicqueue.StepStartQueryRewriter:         {{stagePlanning, "planning_started"}},
	topicqueue.StepEndQueryRewriter:           {{stagePlanning, "rephrase_completed"}},
	topicqueue.StepEndQueryRewriterNoFeedback: {{stagePlanning, "rephrase_skipped"}},
	topicqueue.StepStartResearchPlanner:       {{stagePlanning, "decompose_started"}},
	topicqueue.StatusResearchQuestions:        {{stagePlanning, "decompose_completed"}},
	topicqueue.StepEndResearchPlanner:         {{stagePlanning, "planning_completed"}},
	topicqueue.StepFailResearchPlanner:        {{stagePlanning, "planning_failed"}},
	topicqueue.StepStartIterativeResearch:     {{stageResearching, "researching_started"}},
	topicqueue.StatusProgress:                 {{stageResearching, "parallel_status_update"}},
	topicqueue.StepTaskFailed:                 {{stageResearching, "block_failed"}},
	topicqueue.StepStartAuthor: {{stageResearching, "researching_completed"},
		{stageReporting, "reporting_started"}},
	topicqueue.StepEndAuthor:  {{stageReporting, "writing_completed"}},
	topicqueue.StepFailAuthor: {{stageReporting, "reporting_failed"}},
	topicqueue.StatusReport:   {{stageReporting, "reporting_completed"}},
}

// putProgress stores the progress files made from a run's events.
func (b *Writer) putProgress(events []topicqueue.Event) error {
	p := progressLog{in: b.In, report: b.report, stages: map[string][]progressEvent{},
		started: map[string]*startedIteration{}, found: map[foundCall]bool{}}
	for _, e := range events {
		if about := aboutOf(e); e.Status == topicqueue.StatusReference {
			p.found[foundCall{e.BlockID, about.Tool, about.Query}] = true
		}
	}
	for _, e := range events {
		if err := p.take(e); err != nil {
			return fmt.Errorf("event %d of run %s: %w", e.Seq, b.In.Run.ID, err)
		}
	}
	// The end of an iteration is known only when the block continues, so its events are sorted in afterwards.
	slices.SortStableFunc(p.stages[stageResearching], func(a, b progressEvent) int {
		return a.Timestamp.Compare(b.Timestamp)
	})
	for _, stage := range []string{stagePlanning, stageResearching, stageReporting} {
		f := progressFile{
			ResearchID: b.In.Run.ID, Stage: stage, InputTopic: b.In.Run.Topic, OptimizedTopic: b.In.Plan.Topic,
			Events: append([]progressEvent{}, p.stages[stage]...),
		}
		if err := progressJSON(stage).put(b, f); err != nil {
			return err
		}
	}
	return nil
}

// progressLog converts a run's event stream to the events of progress files.
type progressLog struct {
	in      reporting.Input
	report  *reporting.Report // nil without a report
	stages  map[string][]progressEvent
	started map[string]*startedIteration // last started iteration by block
	found   map[foundCall]bool           // calls with references in the stream
	total   int                          // number of topic blocks
}

type foundCall struct{ block, tool, query string }

// startedIteration holds the stream's data about an iteration.
type startedIteration struct {
	topicqueue.About
	last  time.Time // time of its last reference
	found int       // number of sources found
}

type payload map[string]any

func (p *progressLog) add(stage, name string, at time.Time, block string, content any) {
	p.stages[stage] = append(p.stages[stage], progressEvent{name, at, block, content})
}

// take adds the progress events for one event of the stream.
func (p *progressLog) take(e topicqueue.Event) error {
	name := e.Status
	if e.Status == topicqueue.StatusPipelineStep {
		var s topicqueue.PipelineStep
		if err := json.Unmarshal(e.Content, &s); err != nil {
			return err
		}
		name = s.StepKey
	}
	for _, listed := range progressNames[name] {
		p.add(listed[0], listed[1], e.Time, e.BlockID, e.Content)
	}
	switch name {
	case topicqueue.StatusResearchQuestions:
		return read(e, p.seeded)
	case topicqueue.StatusProgress:
		return read(e, p.grown)
	case topicqueue.StatusThought:
		return read(e, p.iterationStarted)
	case topicqueue.StatusReference:
		return read(e, p.toolCompleted)
	case topicqueue.StatusQuestionDone:
		return read(e, p.blockEnded)
	case topicqueue.StepStartAuthor:
		p.written()
	}
	return nil
}

// read decodes the content of an event and passes both to a function.
func read[T any](e topicqueue.Event, to func(topicqueue.Event, T)) error {
	var v T
	if err := json.Unmarshal(e.Content, &v); err != nil {
		return err
	}
	to(e, v)
	return nil
}

func (p *progressLog) seeded(e topicqueue.Event, q topicqueue.ResearchQuestions) {
	for i, title := range q.Questions {
		p.add(stagePlanning, "queue_seeded", e.Time, topicqueue.BlockID(i+1), payload{"sub_topic": title})
	}
}

// grown adds events for newly discovered topic blocks.
func (p *progressLog) grown(e topicqueue.Event, now topicqueue.Progress) {
	for n := p.total + 1; p.total > 0 && n <= now.TotalTask; n++ {
		b := p.block(topicqueue.BlockID(n))
		p.add(stageResearching, "new_topic_added", e.Time, topicqueue.BlockID(n),
			payload{"sub_topic": b.Title, "parent": b.Parent})
		if n == p.in.Run.Options.QueueMaxLength {
			p.add(stageResearching, "queue_capacity_reached", e.Time, "", payload{"max_length": n})
		}
	}
	p.total = now.TotalTask
}

func (p *progressLog) iterationStarted(e topicqueue.Event, t topicqueue.Thought) {
	add := func(name string, content payload) { p.add(stageResearching, name, e.Time, e.BlockID, content) }
	if p.started[e.BlockID] == nil {
		add("block_started", payload{"sub_topic": p.block(e.BlockID).Title})
	}
	p.iterationEnded(e)
	i := &startedIteration{About: aboutOf(e)}
	p.started[e.BlockID] = i
	k := i.Iteration
	add("iteration_started", payload{"iteration": k, "question_id": t.QuestionID, "thought": t.Thought})
	add("checking_sufficiency", payload{"iteration": k})
	switch {
	case i.Sufficient:
		add("knowledge_sufficient", payload{"iteration": k})
	case len(i.Calls) > 0:
		add("generating_query", payload{"iteration": k, "queries": len(i.Calls)})
	case p.in.Changes == nil: // otherwise it checks the findings of the last run again
		add("query_empty", payload{"iteration": k})
	}
	for _, c := range i.Calls {
		add("tool_calling", payload{"iteration": k, "tool_type": c.Tool, "query": c.Query})
	}
}

func (p *progressLog) toolCompleted(e topicqueue.Event, r topicqueue.Reference) {
	about := aboutOf(e)
	p.add(stageResearching, "tool_completed", e.Time, e.BlockID, payload{"iteration": about.Iteration,
		"tool_type": about.Tool, "query": about.Query, "references": r.References})
	if i := p.started[e.BlockID]; i != nil {
		i.last = e.Time
		i.found += len(r.References)
	}
}

func aboutOf(e topicqueue.Event) (about topicqueue.About) {
	_ = json.Unmarshal(e.Metadata, &about) // optional: the event is complete without it
	return about
}

// iterationEnded adds the end of a block's last iteration. e: the next event of that block that is about something
// else.
func (p *progressLog) iterationEnded(e topicqueue.Event) {
	i := p.started[e.BlockID]
	if i == nil {
		return
	}
	at := i.last
	if at.IsZero() {
		at = e.Time
	}
	add := func(name string, content payload) { p.add(stageResearching, name, at, e.BlockID, content) }
	for _, c := range i.Calls {
		if p.found[foundCall{e.BlockID, c.Tool, c.Query}] {
			continue // already added with its references
		}
		add("tool_completed", payload{"iteration": i.Iteration, "tool_type": c.Tool, "query": c.Query,
			"references": payload{}})
	}
	if i.found > 0 {
		add("processing_notes", payload{"iteration": i.Iteration, "sources": i.found})
	}
	add("iteration_completed", payload{"iteration": i.Iteration})
}

func (p *progressLog) blockEnded(e topicqueue.Event, d topicqueue.QuestionDone) {
	p.iterationEnded(e)
	if d.Status != "failed" { // failures are added by a pipeline step
		p.add(stageResearching, "block_completed", e.Time, e.BlockID, e.Content)
	}
}

// written adds the recorded moments of writing the report.
func (p *progressLog) written() {
	if p.report == nil {
		return
	}
	for _, m := range p.report.Moments {
		p.add(stageReporting, m.Name, m.Time, "", payload{"titles": m.Titles})
	}
}

// block returns a topic block of the run.
func (p *progressLog) block(id string) topicqueue.Block {
	for _, b := range p.in.Blocks {
		if b.Block.ID == id {
			return b.Block
		}
	}
	return topicqueue.Block{ID: id}
}
