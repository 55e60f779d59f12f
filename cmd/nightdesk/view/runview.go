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

func say(format string, args ...any) []string { return []string{fmt.Sprintf(format, args...)} }

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
			b, about := v.block(t.QuestionID), aboutOf(e)
			b.thought, b.tool, b.iteration = t.Thought, "", about.Iteration
			if about.Title != "" {
				v.titles[t.QuestionID] = about.Title
			}
			return v.details("block %d, iteration %d/%d: %s", t.QuestionID, b.iteration, v.iterations, t.Thought)
		})
	case topicqueue.StatusReference:
		return payload(e, func(r topicqueue.Reference) []string {
			b, about := v.block(r.QuestionID), aboutOf(e)
			b.tool = fmt.Sprintf("%s %q: %s", about.Tool, about.Query, Counted(len(r.References), "source"))
			lines := v.details("block %d, %s", r.QuestionID, b.tool)
			for _, key := range slices.Sorted(maps.Keys(r.References)) {
				lines = append(lines, v.details("  %s (%s)", key, r.References[key])...)
			}
			return lines
		})
	case topicqueue.StatusQuestionDone:
		return payload(e, func(d topicqueue.QuestionDone) []string {
			delete(v.working, d.QuestionID)
			if d.Status == "failed" {
				return say("block %d failed: %s (%s)", d.QuestionID, d.Message, v.title(d.QuestionID))
			}
			return say("block %d is done: %s", d.QuestionID, v.title(d.QuestionID))
		})
	case topicqueue.StatusWait:
		return payload(e, func(w topicqueue.Wait) []string {
			return say("the run asks: %s (`nightdesk answer %s`)", topicqueue.OneLine(w.Question), e.RunID)
		})
	case topicqueue.StatusDelta:
		return payload(e, func(d topicqueue.Delta) []string { v.write(e, d); return nil })
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

func (v *runView) step(s topicqueue.PipelineStep) []string {
	if s.StepKey == topicqueue.StepStartAuthor {
		clear(v.working)
	}
	step, known := steps[s.StepKey]
	if !known || step.detail && !v.detail {
		return nil
	}
	return []string{strings.Replace(step.text, "%s", s.Info, 1)}
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
