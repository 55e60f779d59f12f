package view

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"nightdesk/topicqueue"
)

func TestClip(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		n    int
		want string
	}{
		{"heat pumps", 10, "heat pumps"},
		{"heat pumps", 9, "heat pum…"},
		{"热泵在冬天", 10, "热泵在冬天"},
		{"热泵在冬天", 9, "热泵在冬…"},
		{"热泵在冬天", 8, "热泵在…"},
		{"e\u0301te\u0301", 3, "e\u0301te\u0301"},
		{"a\x1b[2Jb\r\nc", 20, "a [2Jb  c"},
		{"a\u202eb\u2028c", 9, "a b c"},
		{"热", 1, "…"},
		{"a", 0, ""},
	} {
		if got := Clip(tc.text, tc.n); got != tc.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", tc.text, tc.n, got, tc.want)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("热泵 👩‍🔬 \x1b[31m", 7)
	f.Add("\xff\xfe\u200d", 2)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(0, min(n, 200))
		got := Clip(s, n)
		if Columns(got) > n || strings.ContainsAny(got, "\x1b\n\r\x07") || utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("Clip(%q, %d) = %q, %d columns", s, n, got, Columns(got))
		}
		if p := Pad(s, n); Columns(p) != n {
			t.Errorf("Pad(%q, %d) = %q, %d columns", s, n, p, Columns(p))
		}
	})
}

func TestDrawBar(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"[----------]": DrawBar(0, 4, 12), "[====>-----]": DrawBar(2, 4, 12), "[==========]": DrawBar(4, 4, 12),
		"[--]": DrawBar(0, 0, 4), "[===]": DrawBar(9, 3, 5),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestStatus: a terminal has the lines and one live line; elsewhere there are the lines.
func TestStatus(t *testing.T) {
	t.Parallel()
	for live, want := range map[bool]string{true: "\r\x1b[Kone\ntwo\nlive\r\x1b[K", false: "one\ntwo\n"} {
		var out bytes.Buffer
		s := &Status{&out, live}
		if err := s.Show([]string{"one", "two"}, "live"); err != nil {
			t.Fatal(err)
		}
		if s.End(); out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}

var at = time.Date(2026, 3, 1, 20, 5, 0, 0, time.UTC)

func event(status string, payload any, about any) topicqueue.Event {
	return topicqueue.NewEvent("", status, payload).With(about)
}

func TestRunView(t *testing.T) {
	t.Parallel()
	v := newRunView(topicqueue.Options{MaxIterations: 4}, true)
	var told []string
	for _, e := range []topicqueue.Event{
		topicqueue.StepEvent(topicqueue.StepStartSearchBackground, ""),
		event(topicqueue.StatusResearchQuestions, topicqueue.ResearchQuestions{Questions: []string{"Moon", "Sun"}}, nil),
		event(topicqueue.StatusProgress, topicqueue.Progress{TotalTask: 2}, nil),
		event(topicqueue.StatusThought, topicqueue.Thought{QuestionID: 1, Thought: "Asking: tide"},
			topicqueue.About{Iteration: 1, Title: "Moon"}),
		event(topicqueue.StatusThought, topicqueue.Thought{QuestionID: 2, Thought: "Asking: sun"},
			topicqueue.About{Iteration: 1, Title: "Sun"}),
		event(topicqueue.StatusReference, topicqueue.Reference{QuestionID: 1,
			References: map[string]string{"a.md": "Tides"}}, topicqueue.About{Iteration: 1, Tool: "rag_hybrid", Query: "tide"}),
		event(topicqueue.StatusProgress, topicqueue.Progress{TotalTask: 3}, nil),
		event(topicqueue.StatusThought, topicqueue.Thought{QuestionID: 3, Thought: "hm"}, topicqueue.About{Iteration: 2,
			Title: "Coasts"}),
		event(topicqueue.StatusQuestionDone, topicqueue.QuestionDone{QuestionID: 2, Status: "failed",
			Message: "nothing was found"}, nil),
		event(topicqueue.StatusProgress, topicqueue.Progress{ProcessedTasks: 1, TotalTask: 3}, nil),
		(&topicqueue.Gap{From: 7, To: 9}).Event(at),
	} {
		lines, err := v.take(e)
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, lines...)
	}
	want := []string{
		"planning", "planned 2 sub-topics:", "  1. Moon", "  2. Sun", "block 1, iteration 1/4: Asking: tide", "block 2, iteration 1/4: Asking: sun",
		`block 1, rag_hybrid "tide": 1 source`, "  a.md (Tides)", "a new sub-topic was found: 0 of 3 topic blocks are done",
		"block 3, iteration 2/4: hm", "block 2 failed: nothing was found (Sun)", "the events 7 to 9 are no longer kept",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	run := topicqueue.Run{ID: "research_x", Topic: "How do tides work?", State: topicqueue.RunResearching,
		StartedAt: at.Add(-65 * time.Second), FinalAt: at.Add(2 * time.Hour)}
	want1 := "researching  1:05 used, 2:00:00 left  [=====>------------] 1/3 topic blocks  block 3, iteration 2/4: hm"
	if got := v.live(run, at); got != want1 {
		t.Errorf("%q, want %q", got, want1)
	}
	for _, tc := range []struct {
		state  topicqueue.RunState
		paused bool
		want   string
	}{
		{topicqueue.RunAwaitingInput, false, "waits for an answer"},
		{topicqueue.RunReviewing, false, "reviewing"},
		{topicqueue.RunNarrating, false, "narrating"},
		{topicqueue.RunResearching, true, "researching, paused"},
		{topicqueue.RunCancelled, true, "cancelled"},
	} {
		run.State, run.Paused = tc.state, tc.paused
		if got := v.live(run, at); !strings.HasPrefix(got, tc.want+"  1:05 used, 2:00:00 left  [") {
			t.Errorf("%s, paused %v: %q", tc.state, tc.paused, got)
		}
	}
	if _, err := v.take(topicqueue.Event{Status: topicqueue.StatusThought, Content: []byte("{")}); err == nil {
		t.Error("a broken payload is no error")
	}
}
