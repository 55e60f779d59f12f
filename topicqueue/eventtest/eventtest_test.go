package eventtest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/eventtest"
)

const (
	planning = `start_query_rewriter; end_query_rewriter_no_feedback; start_search_background; end_search_background;
		start_research_planner; questions 2; end_research_planner;`
	begin    = planning + ` start_iterative_research; progress 0 2;`
	research = begin + ` 1 thought; 2 thought; 1 reference https://a.example/1; 2 reference https://A.example/2;
		1 done; progress 1 2; 2 thought; 2 reference handbook.pdf; 2 done; progress 2 2;`
	author = ` start_author; end_author; report;`
	ending = ` summary 1; complete completed`
)

// streams are valid streams.
var streams = map[string]string{
	"success":             research + author + ending,
	"a third question":    begin + `1 thought; progress 0 3; 3 thought; 3 done; progress 1 3; 1 done; progress 2 3; 2 done; progress 3 3;` + author + ` summary 0; complete completed`,
	"nothing to clarify":  `start_follow_up; end_follow_up_neg;` + research + author + ending,
	"clarified":           `start_follow_up; wait; end_follow_up_pos;` + strings.Replace(research, "end_query_rewriter_no_feedback", "end_query_rewriter", 1) + author + ending,
	"clarification fails": `start_follow_up; fail_clarification;` + research + author + ending,
	"background fails":    strings.Replace(research, "end_search_background", "fail_search_background", 1) + author + ending,
	"planner fails":       `start_query_rewriter; end_query_rewriter; start_search_background; end_search_background; start_research_planner; fail_research_planner; summary 0; complete failed`,
	"a question fails":    begin + `1 failed; 1 task_failed; progress 1 2; 2 done; progress 2 2;` + author + ` summary 0; complete partial`,
	"deadline": begin + `1 done; progress 1 2; 2 thought; iterative_research_pipeline_aborted; 2 failed; 2 task_failed; progress 2 2;` +
		author + ` summary 0; complete partial`,
	"deadline, questions open": begin + `1 done; progress 1 2; 2 thought; iterative_research_pipeline_aborted;` + author + ` summary 0; complete partial`,
	"deadline, nothing done":   begin + `1 thought; iterative_research_pipeline_aborted; summary 0; complete failed`,
	"author fails":             research + `start_author; fail_author; summary 1; complete failed`,
	"rendered":                 research + author + `start_render_report; html; docx; end_render_report;` + ending,
	"rendered in part":         research + author + `start_render_report; html; fail_partial_render_report;` + ending,
	"not rendered, narrated":   research + author + `start_render_report; fail_all_render_report; start_audio; audio; end_audio;` + ending,
	"narration fails":          research + author + `start_audio; fail_audio;` + ending,
	"cancelled while waiting":  `iterative_research_pipeline_aborted; summary 0; complete cancelled`,
	"cancelled in planning":    `start_query_rewriter; end_query_rewriter_no_feedback; iterative_research_pipeline_aborted; summary 0; complete cancelled`,
	"cancelled in research":    begin + `1 done; progress 1 2; iterative_research_pipeline_aborted; summary 0; complete cancelled`,
	"cancelled while written":  research + `start_author; fail_author; iterative_research_pipeline_aborted; summary 1; complete cancelled`,
}

// written builds a stream from a script: step keys, and for each block number what the block does.
func written(t testing.TB, script string) []topicqueue.Event {
	t.Helper()
	var events []topicqueue.Event
	steps, wave := map[[2]int]int{}, 0
	for line := range strings.SplitSeq(script, ";") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		n, err := strconv.Atoi(words[0])
		if err == nil {
			words = words[1:]
		}
		e := said(words, n)
		if name := words[0]; name == topicqueue.StepStartIterativeResearch || name == topicqueue.StepStartAuthor {
			wave++
		}
		if n > 0 {
			e.BlockID = topicqueue.BlockID(n)
		}
		if e.Status != topicqueue.StatusGap { // as the script that appends it does
			e.Content = append([]byte(`{"type":"`+e.Status+`",`), e.Content[1:]...)
		}
		e.Seq, e.RunID, e.Attempt, e.Time = int64(len(events)+1), "research_x", 1, time.Unix(1_800_000_000, 0)
		e.Placement = topicqueue.Placement{Wave: wave, Lane: n, Step: steps[[2]int{wave, n}]}
		steps[[2]int{wave, n}]++
		events = append(events, e)
	}
	return events
}

// said returns the event for some words of a script. n: the block that sends it.
func said(words []string, n int) topicqueue.Event {
	arg := func(i int) int { v, _ := strconv.Atoi(words[i]); return v }
	event := func(status string, payload any) topicqueue.Event { return topicqueue.NewEvent("", status, payload) }
	switch words[0] {
	case "questions":
		return event(topicqueue.StatusResearchQuestions, topicqueue.ResearchQuestions{Questions: make([]string, arg(1))})
	case "progress":
		return event(topicqueue.StatusProgress, topicqueue.Progress{ProcessedTasks: arg(1), TotalTask: arg(2)})
	case "thought":
		return event(topicqueue.StatusThought, topicqueue.Thought{QuestionID: n, Thought: "hm"})
	case "reference":
		return event(topicqueue.StatusReference,
			topicqueue.Reference{QuestionID: n, References: map[string]string{words[1]: "x"}})
	case "done", "failed":
		return event(topicqueue.StatusQuestionDone, topicqueue.QuestionDone{QuestionID: n, Status: words[0]})
	case "task_failed":
		return topicqueue.StepEvent(topicqueue.StepTaskFailed, "why")
	case "summary":
		return event(topicqueue.StatusSummaryStatistics, topicqueue.SummaryStatistics{WebsiteNum: arg(1)})
	case "complete":
		return event(topicqueue.StatusComplete, topicqueue.Complete{State: topicqueue.RunState(words[1])})
	case "wait":
		return event(topicqueue.StatusWait, topicqueue.Wait{Question: "Which one?"})
	case "report":
		return event(topicqueue.StatusReport, topicqueue.ReportFile{Report: "somewhere"})
	case "html", "docx", "audio", "sent":
		return event(words[0], topicqueue.RenderedFile{File: "somewhere"})
	case "gap":
		return (&topicqueue.Gap{From: 1, To: 2}).Event(time.Time{})
	}
	return topicqueue.StepEvent(words[0], "")
}

func TestStreamsInOrder(t *testing.T) {
	t.Parallel()
	for name, script := range streams {
		eventtest.Check(t, written(t, script))
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestTimeBeforeTheFirstEvent: attempts may have failed before the first event, so only the run says how long it took.
func TestTimeBeforeTheFirstEvent(t *testing.T) {
	t.Parallel()
	events := written(t, streams["success"])
	for i := range events {
		if events[i].Status == topicqueue.StatusSummaryStatistics {
			events[i].Content = []byte(`{"type":"summary_statistics","used_time":0.4,"website_num":1}`)
		}
	}
	ended := time.Unix(1_800_000_000, 0)
	for _, tc := range []struct {
		started time.Time
		fails   bool
	}{{ended.Add(-24 * time.Second), false}, {ended.Add(-30 * time.Second), true}, {ended, true}, {time.Time{}, true}} {
		said := &failures{TB: t}
		eventtest.CheckRun(said, topicqueue.Run{StartedAt: tc.started, EndedAt: ended}, events)
		if said.any != tc.fails {
			t.Errorf("planning began at %v: failed %v, want %v", tc.started, said.any, tc.fails)
		}
	}
}

// failures records that a check has failed.
type failures struct {
	testing.TB
	any bool
}

func (f *failures) Errorf(string, ...any) { f.any = true }
func (f *failures) Error(...any)          { f.any = true }

// TestEveryEventCounts omits and repeats single events, which makes a stream invalid. Thoughts and findings of blocks
// are optional.
func TestEveryEventCounts(t *testing.T) {
	t.Parallel()
	free := []string{topicqueue.StatusThought, topicqueue.StatusReference, topicqueue.StatusWait}
	for name, script := range streams {
		lines := strings.Split(script, ";")
		for i, e := range written(t, script) {
			line := strings.TrimSpace(lines[i])
			if slices.Contains(free, e.Status) || line == "html" || line == "docx" {
				continue
			}
			if name == "deadline" && line == topicqueue.StepPipelineAborted {
				continue // without it, a question failed
			}
			less := strings.Join(slices.Delete(slices.Clone(lines), i, i+1), ";")
			if f := eventtest.Faults(written(t, less)); len(f) == 0 {
				t.Errorf("%s: nothing is wrong without %d, %s", name, i+1, line)
			}
			if f := eventtest.Faults(written(t, strings.Join(slices.Insert(slices.Clone(lines), i, line), ";"))); len(f) == 0 {
				t.Errorf("%s: nothing is wrong with %s twice", name, line)
			}
		}
	}
}

func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	good := streams["success"]
	swap := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for name, tc := range map[string]struct {
		script string
		change func(events []topicqueue.Event) []topicqueue.Event
		fault  string
	}{
		"seq has a gap":     {good, func(e []topicqueue.Event) []topicqueue.Event { return slices.Delete(e, 4, 5) }, "seq follows 4"},
		"seq repeats":       {good, func(e []topicqueue.Event) []topicqueue.Event { return slices.Insert(e, 4, e[4]) }, "seq follows 5"},
		"another run":       {good, set(4, func(e *topicqueue.Event) { e.RunID = "other" }), "run_id"},
		"time goes back":    {good, set(4, func(e *topicqueue.Event) { e.Time = e.Time.Add(-time.Hour) }), "time"},
		"no attempt":        {good, set(4, func(e *topicqueue.Event) { e.Attempt = -1 }), "attempt -1"},
		"an older attempt":  {good, set(9, func(e *topicqueue.Event) { e.Attempt = 3 }), "attempt 1 after attempt 3"},
		"content is broken": {good, set(4, func(e *topicqueue.Event) { e.Content = []byte("{") }), "invalid JSON"},
		"a field too many": {good, set(4, func(e *topicqueue.Event) {
			e.Content = []byte(`{"type":"pipeline_step","step_key":"start_author","info":"","tool":1}`)
		}), "a strict client"},
		"total_tasks": {good, set(8, func(e *topicqueue.Event) {
			e.Content = []byte(`{"type":"ir_progress","processed_tasks":0,"total_tasks":2}`)
		}), "no field total_task"},
		"an invented status":    {swap("report;", "report; sent;"), nil, "unknown status"},
		"an invented step":      {swap("start_author", "start_writing"), nil, "unknown step key"},
		"a gap":                 {swap("report;", "report; gap;"), nil, "must not contain a gap"},
		"a wave is left out":    {good, set(7, func(e *topicqueue.Event) { e.Placement.Wave = 2 }), "wave 2 after wave 0"},
		"a wave ends early":     {strings.Replace(good, "2 done;", "", 1), nil, "while block_2 of wave 1 is open"},
		"lane of another block": {good, set(9, func(e *topicqueue.Event) { e.Placement.Lane = 2 }), `lane 2 for block_id "block_1"`},
		"a step repeats":        {good, set(13, func(e *topicqueue.Event) { e.Placement.Step = 1 }), "step 1, call 0 after step 1, call 0"},
		"a step is left out":    {good, set(13, func(e *topicqueue.Event) { e.Placement.Step = 3 }), "step 3, call 0 after"},
		"a call is left out":    {good, set(13, func(e *topicqueue.Event) { e.Placement.Step, e.Placement.Call = 1, 2 }), "step 1, call 2 after"},
		"question of another": {good, set(9, func(e *topicqueue.Event) { e.BlockID, e.Placement.Lane = "block_2", 2 }),
			"does not match block_id block_2"},
		"question that is none":    {swap("2 thought", "3 thought"), nil, "invalid question_id: there are 2 questions"},
		"a lane not announced":     {swap("2 thought", "3 thought; 3 done; progress 1 3"), nil, "invalid question_id: there are 2 questions"},
		"thought after the end":    {swap("progress 1 2;", "progress 1 2; 1 thought;"), nil, "question 1 has ended before"},
		"reference after the end":  {swap("progress 1 2;", "progress 1 2; 1 reference https://a.example/9;"), nil, "question 1 has ended before"},
		"ends twice":               {swap("2 done;", "1 done; progress 2 2; 2 done;"), nil, "question 1 has ended before"},
		"progress falls":           {swap("progress 2 2", "progress 0 2"), nil, "2 questions have ended"},
		"progress too far":         {swap("progress 1 2", "progress 2 2"), nil, "1 questions have ended"},
		"total falls":              {swap("progress 1 2", "progress 1 1"), nil, "total_task has decreased from 2"},
		"begins with another N":    {swap("progress 0 2", "progress 0 5"), nil, "must be 0 of 2"},
		"failure without its step": {swap("1 done", "1 failed"), nil, "no step for the failure of question 1"},
		"step without failure":     {swap("1 done;", "1 done; 1 task_failed;"), nil, "has just failed"},
		"author before the end":    {begin + "1 done; progress 1 2;" + author + " summary 0; complete completed", nil, "1 of 2 questions ended"},
		"report before its author": {swap("end_author; report", "report; end_author"), nil, "must follow end_author"},
		"planner before rewriter":  {strings.TrimPrefix(strings.TrimSpace(good), "start_query_rewriter; end_query_rewriter_no_feedback;"), nil, `must not follow ""`},
		"two ends":                 {swap("end_author;", "end_author; fail_author;"), nil, "start_author is not open"},
		"no end":                   {swap("end_search_background;", ""), nil, "start_search_background has no end"},
		"report after a failure":   {swap("end_author", "fail_author"), nil, "must follow end_author"},
		"file outside":             {swap("report;", "report; html;"), nil, "outside of rendering"},
		"rendering without a file": {swap("report;", "report; start_render_report; end_render_report;"), nil, "nothing was rendered"},
		"audio before the render":  {swap("report;", "report; start_audio; audio; end_audio; start_render_report; html; end_render_report;"), nil, `must not follow "end_audio"`},
		"statistics before audio":  {swap("summary 1;", "summary 1; start_audio; audio; end_audio;"), nil, "only complete follows"},
		"wrong hosts":              {swap("summary 1", "summary 2"), nil, "name 1 hosts"},
		"wrong time":               {good, set(-2, func(e *topicqueue.Event) { e.Time = e.Time.Add(7 * time.Second) }), "0.117 minutes"},
		"no statistics":            {swap("summary 1;", ""), nil, "complete must follow summary_statistics"},
		"not complete":             {swap("complete completed", ""), nil, "complete is missing"},
		"goes on after complete":   {good + "; 1 thought", nil, "after the end of the stream"},
		"completed, no report":     {swap("report;", ""), nil, "report: false"},
		"failed with a report":     {swap("complete completed", "complete failed"), nil, "report: true"},
		"not final":                {swap("complete completed", "complete reporting"), nil, "not final"},
		"aborted, completed":       {begin + "1 done; progress 1 2; iterative_research_pipeline_aborted;" + author + "summary 0; complete completed", nil, "was aborted"},
		"aborted, none done":       {begin + "iterative_research_pipeline_aborted;" + author + "summary 0; complete partial", nil, "before any question was done"},
		"aborted, no author":       {begin + "1 done; progress 1 2; iterative_research_pipeline_aborted; summary 0; complete failed", nil, "no attempt at a report"},
		"cancelled without a word": {begin + "summary 0; complete cancelled", nil, "no step with the reason"},
		"rewritten without answer": {"start_follow_up; fail_clarification; start_query_rewriter; end_query_rewriter", nil, "no feedback"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := written(t, tc.script)
			if tc.change != nil {
				events = tc.change(events)
			}
			if faults := strings.Join(eventtest.Faults(events), "\n"); !strings.Contains(faults, tc.fault) {
				t.Errorf("faults %q, want one with %q", faults, tc.fault)
			}
		})
	}
}

// set returns a change of one event; one before the first counts from the end.
func set(i int, change func(*topicqueue.Event)) func([]topicqueue.Event) []topicqueue.Event {
	return func(events []topicqueue.Event) []topicqueue.Event {
		change(&events[(i+len(events))%len(events)])
		return events
	}
}

// FuzzNext: no content makes the validator panic, and an invalid payload is reported.
func FuzzNext(f *testing.F) {
	f.Add("ir_progress", `{"processed_tasks":1,"total_task":1e9}`, "block_1")
	f.Add("reference", `{"question_id":1,"references":{"http://[":""}}`, "block_01")
	f.Add("pipeline_step", `[]`, "")
	f.Fuzz(func(t *testing.T, status, content, block string) {
		events := written(t, begin)
		n := len(events)
		e := events[n-1]
		e.Seq, e.Status, e.Content, e.BlockID = e.Seq+1, status, []byte(content), block
		faults := eventtest.Faults(append(events, e))
		if !json.Valid(e.Content) && !strings.Contains(strings.Join(faults, "\n"), "invalid JSON") {
			t.Errorf("%s is no fault: %s", content, fmt.Sprint(faults))
		}
	})
}
