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
	working    map[int]*blockView
	writing    map[string]*writingView // by answer: model output being written
	detail     bool                    // thoughts and findings of blocks get their own lines
}

// viewLine is a line that describes an event.
type viewLine struct {
	text   string
	detail bool // also shown by the live lines, so it may be cut to the width of the terminal
}

func say(format string, args ...any) []viewLine {
	return []viewLine{{text: fmt.Sprintf(format, args...)}}
}

// blockView is a block in progress.
type blockView struct {
	iteration int
	thought   string
	tool      string // last call and its result
}

// writingView is a model answer that is being written.
type writingView struct {
	block int // 0: the run itself
	step  string
	end   string // end of the text so far
	at    time.Time
}

const (
	writtenKept = 500              // bytes kept of the end of an answer
	writtenTime = 30 * time.Second // an answer without new text for this long counts as abandoned
)

func newRunView(options topicqueue.Options, detail bool) *runView {
	return &runView{iterations: options.MaxIterations, titles: map[int]string{}, working: map[int]*blockView{},
		writing: map[string]*writingView{}, detail: detail}
}

// take processes the next event and returns the lines that describe it.
func (v *runView) take(e topicqueue.Event) ([]viewLine, error) {
	switch e.Status {
	case topicqueue.StatusPipelineStep:
		return payload(e, v.step)
	case topicqueue.StatusResearchQuestions:
		return payload(e, func(q topicqueue.ResearchQuestions) []viewLine {
			lines := say("planned %s:", Counted(len(q.Questions), "sub-topic"))
			for i, title := range q.Questions {
				v.titles[i+1] = title
				lines = append(lines, say("  %d. %s", i+1, title)...)
			}
			return lines
		})
	case topicqueue.StatusProgress:
		return payload(e, func(p topicqueue.Progress) []viewLine {
			grown := v.progress.TotalTask > 0 && p.TotalTask > v.progress.TotalTask
			v.progress = p
			if grown {
				return say("a new sub-topic was found: %d of %d topic blocks are done", p.ProcessedTasks, p.TotalTask)
			}
			return nil
		})
	case topicqueue.StatusThought:
		return payload(e, func(t topicqueue.Thought) []viewLine {
			b, about := v.block(t.QuestionID), aboutOf(e)
			b.thought, b.tool, b.iteration = t.Thought, "", about.Iteration
			if about.Title != "" {
				v.titles[t.QuestionID] = about.Title
			}
			return v.details("block %d, iteration %d/%d: %s", t.QuestionID, b.iteration, v.iterations, t.Thought)
		})
	case topicqueue.StatusReference:
		return payload(e, func(r topicqueue.Reference) []viewLine {
			b, about := v.block(r.QuestionID), aboutOf(e)
			b.tool = fmt.Sprintf("%s %q: %s", about.Tool, about.Query, Counted(len(r.References), "source"))
			lines := v.details("block %d, %s", r.QuestionID, b.tool)
			for _, key := range slices.Sorted(maps.Keys(r.References)) {
				lines = append(lines, v.details("  %s (%s)", key, r.References[key])...)
			}
			return lines
		})
	case topicqueue.StatusQuestionDone:
		return payload(e, func(d topicqueue.QuestionDone) []viewLine {
			delete(v.working, d.QuestionID)
			if d.Status == "failed" {
				return say("block %d failed: %s (%s)", d.QuestionID, d.Message, v.title(d.QuestionID))
			}
			return say("block %d is done: %s", d.QuestionID, v.title(d.QuestionID))
		})
	case topicqueue.StatusWait:
		return payload(e, func(w topicqueue.Wait) []viewLine {
			return say("the run asks: %s (`nightdesk answer %s`)", topicqueue.OneLine(w.Question), e.RunID)
		})
	case topicqueue.StatusDelta:
		return payload(e, func(d topicqueue.Delta) []viewLine { v.write(e, d); return nil })
	case topicqueue.StatusGap:
		return payload(e, func(g struct{ From, To int64 }) []viewLine {
			if g.To < g.From {
				return say("Redis lost its last moments: the run goes on from event %d", g.To)
			}
			return say("the events %d to %d are no longer kept", g.From, g.To)
		})
	}
	return nil, nil
}

// payload decodes an event's payload and calls show with it.
func payload[T any](e topicqueue.Event, show func(T) []viewLine) ([]viewLine, error) {
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

func (v *runView) details(format string, args ...any) []viewLine {
	if !v.detail {
		return nil
	}
	return []viewLine{{fmt.Sprintf(format, args...), true}}
}

func (v *runView) block(n int) *blockView {
	if v.working[n] == nil {
		v.working[n] = &blockView{}
	}
	return v.working[n]
}

// doing describes, by prompt name, what a model is doing.
var doing = map[string]string{"clarify": "reading the question", "rephrase": "rephrasing the question",
	"decompose": "planning", "queries": "planning", "decide": "thinking", "note": "noting", "review": "reviewing",
	"outline": "outlining", "place": "outlining", "renew": "outlining", "section": "writing", "frame": "writing",
	"repair_section": "correcting", "answer": "answering", "look_up": "thinking",
	"narrate": "writing what is read aloud"}

func (v *runView) write(e topicqueue.Event, d topicqueue.Delta) {
	if d.Done {
		delete(v.writing, d.Answer)
		return
	}
	w := v.writing[d.Answer]
	if w == nil {
		w = &writingView{block: max(0, topicqueue.BlockNumber(e.BlockID)), step: d.Step}
		v.writing[d.Answer] = w
	}
	w.end += d.Text
	if over := len(w.end) - writtenKept; over > 0 {
		w.end = strings.ToValidUTF8(w.end[over:], "")
	}
	w.at = e.Time
}

// written returns the lines for answers of a block that are being written, sorted. Block 0 is the run itself.
func (v *runView) written(block, columns int, now time.Time) (lines []string) {
	for _, w := range v.writing {
		if w.block == block && now.Sub(w.at) < writtenTime {
			begin := cmp.Or(doing[w.step], w.step) + ": "
			lines = append(lines, begin+clipFront(topicqueue.OneLine(w.end), columns-Columns(begin)))
		}
	}
	slices.Sort(lines)
	return lines
}

func (v *runView) title(n int) string { return cmp.Or(v.titles[n], topicqueue.BlockID(n)) }

func (v *runView) step(s topicqueue.PipelineStep) []viewLine {
	switch s.StepKey {
	case topicqueue.StepStartFollowUp:
		return nil // the asker shows the question itself
	case topicqueue.StepEndFollowUpPos, topicqueue.StepEndFollowUpNeg:
		return v.details("clarification: %s", s.Info)
	case topicqueue.StepFailClarification:
		return say("whether the topic is clear is not known: %s", s.Info)
	case topicqueue.StepEndQueryRewriter:
		return say("the topic was rephrased: %s", s.Info)
	case topicqueue.StepStartSearchBackground:
		return say("planning")
	case topicqueue.StepEndSearchBackground, topicqueue.StepFailSearchBackground:
		return v.details("background: %s", s.Info)
	case topicqueue.StepFailResearchPlanner:
		return say("planning failed: %s", s.Info)
	case topicqueue.StepPipelineAborted:
		return say("the research was ended: %s", s.Info)
	case topicqueue.StepStartAuthor:
		clear(v.working)
		return say("writing the report")
	case topicqueue.StepEndAuthor:
		return v.details("written: %s", s.Info)
	case topicqueue.StepFailAuthor:
		return say("the report could not be written: %s", s.Info)
	case topicqueue.StepStartRenderReport:
		return v.details("rendering the report: %s", s.Info)
	case topicqueue.StepFailPartialRenderReport, topicqueue.StepFailAllRenderReport:
		return say("rendering failed: %s", s.Info)
	case topicqueue.StepStartAudio:
		return say("narrating the report")
	case topicqueue.StepFailAudio:
		return say("the narration failed: %s", s.Info)
	}
	return nil
}

// live returns the live lines: header, bar, and as many blocks in progress as rows allow.
func (v *runView) live(run topicqueue.Run, now time.Time, columns, rows int) []string {
	lines := []string{run.ID + "  " + State(run) + TimeUsed(run, now), Clip(run.Topic, columns-1)}
	if p := v.progress; p.TotalTask > 0 {
		lines = append(lines, fmt.Sprintf("%s %d/%d topic blocks", drawBar(p.ProcessedTasks, p.TotalTask, min(40, columns/2)),
			p.ProcessedTasks, p.TotalTask))
	}
	for _, line := range v.written(0, columns-3, now) {
		if len(lines) < rows {
			lines = append(lines, "  "+line)
		}
	}
	if run.State != topicqueue.RunResearching {
		return lines
	}
	blocks := slices.Sorted(maps.Keys(v.working))
	for i, n := range blocks {
		left := rows - len(lines)
		if left < 2 || left == 2 && i < len(blocks)-1 {
			return append(lines, fmt.Sprintf("  and %d more in work", len(blocks)-i))
		}
		b, said := v.working[n], v.written(n, columns-6, now)
		if len(said) == 0 {
			said = []string{cmp.Or(b.tool, b.thought)}
		}
		lines = append(lines, fmt.Sprintf("  %d. %d/%d %s", n, b.iteration, v.iterations, v.title(n)), "     "+said[0])
	}
	return lines
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
