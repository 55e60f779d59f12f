package eventtest

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"nightdesk/topicqueue"
)

// rounded is how much used_time may differ because it has three decimals, in minutes.
const rounded = 0.001

// order is the state derived from the statuses and step keys of a stream.
type order struct {
	first   time.Time
	seen    map[string]bool // step keys and untyped statuses
	lastKey string          // the last of them
	open    string          // start key without an end so far

	research  bool // between start_iterative_research and start_author
	aborted   bool
	questions int
	progress  *topicqueue.Progress
	done      map[int]bool
	doneCount int // number of questions with status done
	failed    int // failed question that no step has named yet; 0: none
	owed      bool
	files     int // number of rendered files
	hosts     map[string]bool
	ended     bool
}

func newOrder() order {
	return order{seen: map[string]bool{}, done: map[int]bool{}, hosts: map[string]bool{}}
}

func (o *order) note(key string, fault faultFunc) {
	if o.seen[key] {
		fault("duplicate %s", key)
	}
	o.seen[key] = true
	o.lastKey = key
}

// decode decodes a payload. Parse has already reported its faults.
func decode[T any](e topicqueue.Event) (v T, ok bool) {
	ok = json.Unmarshal(e.Content, &v) == nil
	return v, ok
}

func (o *order) next(e topicqueue.Event, fault faultFunc) {
	if o.ended {
		fault("event after the end of the stream")
	}
	if o.owed && e.Status != topicqueue.StatusProgress && e.Status != topicqueue.StatusPipelineStep {
		fault("ir_progress must come first")
	}
	if o.seen[topicqueue.StatusSummaryStatistics] && e.Status != topicqueue.StatusComplete {
		fault("only complete follows summary_statistics")
	}
	switch e.Status {
	case topicqueue.StatusPipelineStep:
		if s, ok := decode[topicqueue.PipelineStep](e); ok {
			o.step(s, e, fault)
		}
	case topicqueue.StatusResearchQuestions:
		if q, ok := decode[topicqueue.ResearchQuestions](e); ok {
			if o.lastKey != topicqueue.StepStartResearchPlanner {
				fault("research_questions outside of planning")
			}
			if len(q.Questions) == 0 {
				fault("research_questions is empty")
			}
			o.questions = len(q.Questions)
			o.note(e.Status, fault)
		}
	case topicqueue.StatusProgress:
		if p, ok := decode[topicqueue.Progress](e); ok {
			o.takeProgress(p, fault)
		}
	case topicqueue.StatusThought:
		if t, ok := decode[topicqueue.Thought](e); ok {
			o.question(t.QuestionID, e, fault)
		}
	case topicqueue.StatusReference:
		if r, ok := decode[topicqueue.Reference](e); ok {
			o.question(r.QuestionID, e, fault)
			for key := range r.References {
				if u, err := url.Parse(key); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
					o.hosts[strings.ToLower(u.Hostname())] = true
				}
			}
		}
	case topicqueue.StatusQuestionDone:
		if d, ok := decode[topicqueue.QuestionDone](e); ok {
			o.takeDone(d, e, fault)
		}
	case topicqueue.StatusSummaryStatistics:
		if s, ok := decode[topicqueue.SummaryStatistics](e); ok {
			o.summary(s, e, fault)
		}
	default:
		o.untyped(e, fault)
	}
}

// question checks that an event belongs to a question that is being researched.
func (o *order) question(id int, e topicqueue.Event, fault faultFunc) {
	if !o.research || o.progress == nil {
		fault("event outside of research")
	} else if id < 1 || id > o.progress.TotalTask {
		fault("invalid question_id: there are %d questions", o.progress.TotalTask)
	}
	if e.BlockID != topicqueue.BlockID(id) {
		fault("question_id does not match block_id %s", e.BlockID)
	}
	if o.done[id] {
		fault("question %d has ended before", id)
	}
}

func (o *order) takeDone(d topicqueue.QuestionDone, e topicqueue.Event, fault faultFunc) {
	o.question(d.QuestionID, e, fault)
	o.done[d.QuestionID], o.owed = true, true
	switch d.Status {
	case "done":
		o.doneCount++
	case "failed":
		o.failed = d.QuestionID
	default:
		fault("status must be done or failed")
	}
}

func (o *order) takeProgress(p topicqueue.Progress, fault faultFunc) {
	switch {
	case !o.research:
		fault("event outside of research")
	case o.progress == nil && (p.ProcessedTasks != 0 || p.TotalTask != o.questions):
		fault("the first progress of research must be 0 of %d", o.questions)
	case o.progress != nil && p.TotalTask < o.progress.TotalTask:
		fault("total_task has decreased from %d", o.progress.TotalTask)
	case o.progress != nil && p == *o.progress:
		fault("progress is unchanged")
	}
	if o.failed != 0 {
		fault("there is no step for the failure of question %d", o.failed)
	}
	if p.ProcessedTasks != len(o.done) || p.ProcessedTasks > p.TotalTask {
		fault("%d questions have ended", len(o.done))
	}
	o.progress, o.owed, o.failed = &p, false, 0
}

func (o *order) summary(s topicqueue.SummaryStatistics, e topicqueue.Event, fault faultFunc) {
	o.note(e.Status, fault)
	if o.open != "" {
		fault("%s has no end", o.open)
	}
	if !o.seen[topicqueue.StatusReport] && !o.aborted && !o.seen[topicqueue.StepFailResearchPlanner] &&
		!o.seen[topicqueue.StepFailAuthor] {
		fault("there is no report and no step with the reason")
	}
	if s.WebsiteNum != len(o.hosts) {
		fault("the references name %d hosts", len(o.hosts))
	}
	if wall := e.Time.Sub(o.first).Minutes(); s.UsedTime < wall-rounded { // attempts before the first event take time, too
		fault("%.3f minutes have passed", wall)
	}
}

func (o *order) untyped(e topicqueue.Event, fault faultFunc) {
	switch e.Status {
	case topicqueue.StatusWait: // may come several times
		if o.open != topicqueue.StepStartFollowUp && o.open != topicqueue.StepStartResearchPlanner {
			fault("wait outside of a question to the user")
		}
		return
	case topicqueue.StatusReport:
		if o.lastKey != topicqueue.StepEndAuthor {
			fault("report must follow end_author")
		}
	case topicqueue.StatusHTML, topicqueue.StatusDOCX:
		o.files++
		if o.open != topicqueue.StepStartRenderReport {
			fault("event outside of rendering")
		}
	case topicqueue.StatusAudio:
		if o.open != topicqueue.StepStartAudio {
			fault("event outside of the narration")
		}
	case topicqueue.StatusComplete:
		o.complete(e, fault)
		o.ended = true
	default:
		fault("unknown status")
	}
	o.note(e.Status, fault)
}

// complete checks that the state of the run matches the stream.
func (o *order) complete(e topicqueue.Event, fault faultFunc) {
	if o.lastKey != topicqueue.StatusSummaryStatistics {
		fault("complete must follow summary_statistics")
	}
	var c struct {
		State topicqueue.RunState `json:"state"`
	}
	if err := json.Unmarshal(e.Content, &c); err != nil || !c.State.Final() {
		fault("state %q is not final (%v)", c.State, err)
	}
	report := o.seen[topicqueue.StatusReport]
	wants := c.State == topicqueue.RunCompleted || c.State == topicqueue.RunPartial
	if c.State != topicqueue.RunCancelled && report != wants {
		fault("report: %v", report)
	}
	switch {
	case o.aborted && c.State == topicqueue.RunCompleted:
		fault("the research was aborted")
	case !o.aborted && c.State == topicqueue.RunCancelled:
		fault("there is no step for the cancellation")
	case o.aborted && c.State != topicqueue.RunCancelled && o.doneCount > 0 && !o.seen[topicqueue.StepStartAuthor]:
		fault("%d questions are done, but there was no attempt at a report", o.doneCount)
	}
}

func (o *order) end(fault faultFunc) {
	if !o.ended {
		fault("complete is missing")
	}
	if !o.aborted && o.progress != nil && o.progress.ProcessedTasks != o.progress.TotalTask {
		fault("%d of %d questions ended", o.progress.ProcessedTasks, o.progress.TotalTask)
	}
}

// after lists, for each start key, the permitted last step key or untyped status before it.
var after = map[string][]string{
	topicqueue.StepStartFollowUp: {""},
	topicqueue.StepStartQueryRewriter: {"", topicqueue.StepEndFollowUpPos, topicqueue.StepEndFollowUpNeg,
		topicqueue.StepFailClarification},
	topicqueue.StepStartSearchBackground:  {topicqueue.StepEndQueryRewriter, topicqueue.StepEndQueryRewriterNoFeedback},
	topicqueue.StepStartResearchPlanner:   {topicqueue.StepEndSearchBackground, topicqueue.StepFailSearchBackground},
	topicqueue.StepStartIterativeResearch: {topicqueue.StepEndResearchPlanner},
	topicqueue.StepStartAuthor:            {topicqueue.StepStartIterativeResearch, topicqueue.StepPipelineAborted},
	topicqueue.StepStartRenderReport:      {topicqueue.StatusReport},
	topicqueue.StepStartAudio: {topicqueue.StatusReport, topicqueue.StepEndRenderReport,
		topicqueue.StepFailPartialRenderReport, topicqueue.StepFailAllRenderReport},
}

func (o *order) step(s topicqueue.PipelineStep, e topicqueue.Event, fault faultFunc) {
	key := s.StepKey
	if key == topicqueue.StepTaskFailed {
		if o.failed == 0 || e.BlockID != topicqueue.BlockID(o.failed) {
			fault("no question of %s has just failed", e.BlockID)
		}
		o.failed = 0
		return
	}
	if o.owed {
		fault("ir_progress must come first")
	}
	before, starts := after[key]
	start := topicqueue.Closes(key)
	switch {
	case key == topicqueue.StepPipelineAborted:
		if o.open != "" {
			fault("%s has no end", o.open)
		}
		o.aborted = true
	case starts:
		o.start(key, before, fault)
	case start != "":
		o.close(key, start, fault)
	default:
		fault("unknown step key")
	}
	o.note(key, fault)
}

func (o *order) start(key string, before []string, fault faultFunc) {
	if o.open != "" {
		fault("%s has no end", o.open)
	}
	if !slices.Contains(before, o.lastKey) {
		fault("step must not follow %q", o.lastKey)
	}
	switch key {
	case topicqueue.StepStartIterativeResearch:
		o.research, o.owed = true, true
		return
	case topicqueue.StepStartAuthor:
		switch {
		case !o.research:
			fault("there was no research")
		case o.aborted && o.doneCount == 0:
			fault("the research was aborted before any question was done")
		case !o.aborted && len(o.done) != o.progressTotal():
			fault("%d of %d questions ended", len(o.done), o.progressTotal())
		}
		o.research = false
	}
	o.open = key
}

func (o *order) progressTotal() int {
	if o.progress == nil {
		return o.questions
	}
	return o.progress.TotalTask
}

func (o *order) close(key, start string, fault faultFunc) {
	if o.open != start {
		fault("%s is not open", start)
	}
	o.open = ""
	switch key {
	case topicqueue.StepEndResearchPlanner:
		if o.questions == 0 {
			fault("research_questions is missing")
		}
	case topicqueue.StepEndQueryRewriter:
		if o.seen[topicqueue.StepFailClarification] {
			fault("the clarification failed: there is no feedback to rewrite with")
		}
	case topicqueue.StepEndRenderReport, topicqueue.StepFailPartialRenderReport:
		if o.files == 0 {
			fault("nothing was rendered")
		}
	case topicqueue.StepFailAllRenderReport:
		if o.files > 0 {
			fault("%d files were rendered", o.files)
		}
	case topicqueue.StepEndAudio:
		if !o.seen[topicqueue.StatusAudio] {
			fault("there is no audio")
		}
	}
}
