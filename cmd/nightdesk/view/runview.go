package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nightdesk/topicqueue"
)

// runView accumulates the events of one run for display.
type runView struct {
	iterations int // maximum per block
	progress   topicqueue.Progress
	titles     map[int]string // by block
	doing      string         // the last thought or call of a block
	writing    string         // step of the report that a model is working on
	detail     bool           // thoughts and findings of blocks get their own lines
}

func say(format string, args ...any) []string { return []string{fmt.Sprintf(format, args...)} }

func newRunView(options topicqueue.Options, detail bool) *runView {
	return &runView{iterations: options.MaxIterations, titles: map[int]string{}, detail: detail}
}

// take processes the next event and returns the lines that describe it.
func (v *runView) take(e topicqueue.Event) ([]string, error) {
	switch e.Status {
	case topicqueue.StatusPipelineStep:
		return payload(e, v.step)
	case topicqueue.StatusResearchQuestions:
		return payload(e, func(q topicqueue.ResearchQuestions) []string {
			lines := say("planned %s:", Counted(len(q.Questions), "sub-topic"))
			for i, title := range q.Questions {
				v.titles[i+1] = title
				lines = append(lines, say("  %d. %s", i+1, title)...)
			}
			return lines
		})
	case topicqueue.StatusProgress:
		return payload(e, func(p topicqueue.Progress) []string {
			grown := v.progress.TotalTask > 0 && p.TotalTask > v.progress.TotalTask
			v.progress = p
			if grown {
				return say("a new sub-topic was found: %d of %d topic blocks are done", p.ProcessedTasks, p.TotalTask)
			}
			return nil
		})
	case topicqueue.StatusThought:
		return payload(e, func(t topicqueue.Thought) []string {
			about := aboutOf(e)
			if about.Title != "" {
				v.titles[t.QuestionID] = about.Title
			}
			v.doing = fmt.Sprintf("block %d, iteration %d/%d: %s", t.QuestionID, about.Iteration, v.iterations, t.Thought)
			return v.details("%s", v.doing)
		})
	case topicqueue.StatusReference:
		return payload(e, func(r topicqueue.Reference) []string {
			about := aboutOf(e)
			v.doing = fmt.Sprintf("block %d, %s %q: %s", r.QuestionID, about.Tool, about.Query,
				Counted(len(r.References), "source"))
			lines := v.details("%s", v.doing)
			for _, key := range slices.Sorted(maps.Keys(r.References)) {
				lines = append(lines, v.details("  %s (%s)", key, r.References[key])...)
			}
			return lines
		})
	case topicqueue.StatusDelta:
		return payload(e, func(d topicqueue.Delta) []string {
			name, _, _ := strings.Cut(d.Step, ".")
			text := writings[name]
			if text == "" || text == v.writing {
				return nil
			}
			v.writing = text
			return say("%s", text)
		})
	case topicqueue.StatusQuestionDone:
		return payload(e, func(d topicqueue.QuestionDone) []string {
			if d.Status == "failed" {
				return say("block %d failed: %s (%s)", d.QuestionID, d.Message, v.title(d.QuestionID))
			}
			return say("block %d is done: %s", d.QuestionID, v.title(d.QuestionID))
		})
	case topicqueue.StatusWait:
		return payload(e, func(w topicqueue.Wait) []string {
			return say("the run asks: %s (`nightdesk answer %s`)", topicqueue.OneLine(w.Question), e.RunID)
		})
	case topicqueue.StatusGap:
		return payload(e, func(g struct{ From, To int64 }) []string {
			if g.To < g.From {
				return say("Redis lost its last moments: the run goes on from event %d", g.To)
			}
			return say("the events %d to %d are no longer kept", g.From, g.To)
		})
	}
	return nil, nil
}

// payload decodes an event's payload and calls show with it.
func payload[T any](e topicqueue.Event, show func(T) []string) ([]string, error) {
	var v T
	if err := json.Unmarshal(e.Content, &v); err != nil {
		return nil, fmt.Errorf("read event %d of run %s: %w", e.Seq, e.RunID, err)
	}
	return show(v), nil
}

func aboutOf(e topicqueue.Event) (about topicqueue.About) {
	_ = json.Unmarshal(e.Metadata, &about) // optional: the event is understandable without it
	return about
}

func (v *runView) details(format string, args ...any) []string {
	if !v.detail {
		return nil
	}
	return say(format, args...)
}

func (v *runView) title(n int) string { return cmp.Or(v.titles[n], topicqueue.BlockID(n)) }

// steps describes the steps of a run. Those that are details are left out of a short view.
var steps = map[string]struct {
	text   string
	detail bool
}{
	topicqueue.StepEndFollowUpPos:          {"clarification: %s", true},
	topicqueue.StepEndFollowUpNeg:          {"clarification: %s", true},
	topicqueue.StepFailClarification:       {"whether the topic is clear is not known: %s", false},
	topicqueue.StepEndQueryRewriter:        {"the topic was rephrased: %s", false},
	topicqueue.StepStartSearchBackground:   {"planning", false},
	topicqueue.StepEndSearchBackground:     {"background: %s", true},
	topicqueue.StepFailSearchBackground:    {"background: %s", true},
	topicqueue.StepFailResearchPlanner:     {"planning failed: %s", false},
	topicqueue.StepPipelineAborted:         {"the research was ended: %s", false},
	topicqueue.StepStartAuthor:             {"writing the report", false},
	topicqueue.StepEndAuthor:               {"written: %s", true},
	topicqueue.StepFailAuthor:              {"the report could not be written: %s", false},
	topicqueue.StepStartRenderReport:       {"rendering the report: %s", true},
	topicqueue.StepFailPartialRenderReport: {"rendering failed: %s", false},
	topicqueue.StepFailAllRenderReport:     {"rendering failed: %s", false},
	topicqueue.StepStartAudio:              {"narrating the report", false},
	topicqueue.StepFailAudio:               {"the narration failed: %s", false},
}

// writings describes the model calls between research and report, which have no events.
var writings = map[string]string{
	"review":  "comparing what the topic blocks found",
	"outline": "planning the sections and computing figures",
	"renew":   "choosing the sections to write again",
	"author":  "writing the text",
	"judge":   "checking each sentence against its sources",
}

func (v *runView) step(s topicqueue.PipelineStep) []string {
	step, known := steps[s.StepKey]
	if !known || step.detail && !v.detail {
		return nil
	}
	return []string{strings.Replace(step.text, "%s", s.Info, 1)}
}

// live returns the live line: state, time, progress, and what is done now.
func (v *runView) live(run topicqueue.Run, now time.Time) string {
	line := State(run) + TimeUsed(run, now)
	if p := v.progress; p.TotalTask > 0 {
		line += fmt.Sprintf("  %s %d/%d topic blocks", DrawBar(p.ProcessedTasks, p.TotalTask, 20), p.ProcessedTasks,
			p.TotalTask)
	}
	if run.State == topicqueue.RunResearching {
		line += "  " + v.doing
	}
	return line
}

// State returns the state of a run, and whether it is paused or not stored.
func State(run topicqueue.Run) string { return StateWord(run.State, run.Paused, run.Unpublished) }

// StateWord is State for a run whose report is not stored for the reason unpublished; empty: it is, or there is none.
func StateWord(state topicqueue.RunState, paused bool, unpublished string) string {
	word := string(state)
	if state == topicqueue.RunAwaitingInput {
		word = "waits for an answer"
	}
	if paused && !state.Final() {
		word += ", paused"
	}
	if unpublished != "" {
		word += ", not stored"
	}
	return word
}

// TimeUsed returns how long a run has been running and how much time is left, or "" if it has not started.
func TimeUsed(run topicqueue.Run, now time.Time) string {
	if run.StartedAt.IsZero() {
		return ""
	}
	end := cmp.Or(run.EndedAt, now)
	text := "  " + Duration(end.Sub(run.StartedAt)) + " used"
	if run.EndedAt.IsZero() && !run.FinalAt.IsZero() {
		text += ", " + Duration(run.FinalAt.Sub(now)) + " left"
	}
	return text
}

// Confirmed summarises the check of a report, or returns "" if there was none. t may be nil.
func Confirmed(t *topicqueue.Tally) string {
	switch {
	case t == nil || t.Sentences == 0:
		return ""
	case t.Quotes: // a quotation always matches its source, so that says nothing about the report
		return Counted(t.Sentences, "quotation")
	case t.Unsupported > 0:
		return fmt.Sprintf("%d of %d confirmed, %d not supported", t.Supported, t.Sentences, t.Unsupported)
	}
	return fmt.Sprintf("%d of %d confirmed", t.Supported, t.Sentences)
}

// Told is an event with the lines that describe it.
type Told struct {
	topicqueue.Event
	Lines []string
}

// Tell describes the events of a run in full detail. Events without meaning for a person have no lines.
func Tell(options topicqueue.Options, events []topicqueue.Event) ([]Told, error) {
	v := newRunView(options, true)
	out := make([]Told, 0, len(events))
	for _, e := range events {
		said, err := v.take(e)
		if err != nil {
			return nil, err
		}
		told := Told{Event: e}
		for _, line := range said {
			told.Lines = append(told.Lines, strings.TrimSpace(line))
		}
		out = append(out, told)
	}
	return out, nil
}
