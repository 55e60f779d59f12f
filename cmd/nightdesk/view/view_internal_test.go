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
		"[----------]": drawBar(0, 4, 12), "[====>-----]": drawBar(2, 4, 12), "[==========]": drawBar(4, 4, 12),
		"[--]": drawBar(0, 0, 4), "[===]": drawBar(9, 3, 5),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// paint plays what a screen writes on a terminal of so many columns that keeps all its lines.
func paint(t *testing.T, written string, width int) []string {
	t.Helper()
	lines := []string{""}
	row := 0
	for written != "" {
		switch {
		case strings.HasPrefix(written, "\x1b["):
			end := strings.IndexAny(written, "AJ")
			if written[end] == 'A' {
				n := 0
				for _, c := range written[2:end] {
					n = n*10 + int(c-'0')
				}
				row = max(0, row-n)
			} else {
				lines = append(lines[:row], "")
			}
			written = written[end+1:]
		case written[0] == '\n':
			row++
			if row == len(lines) {
				lines = append(lines, "")
			}
			written = written[1:]
		case written[0] == '\r':
			written = written[1:]
		default:
			r, n := utf8.DecodeRuneInString(written)
			if Columns(lines[row])+columnsOf(r) > width {
				row++
				lines = append(lines, "")
			}
			lines[row] += string(r)
			written = written[n:]
		}
	}
	return lines
}

func TestScreen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	width, height := 20, 6
	s := &Screen{out: &out, Size: func() (int, int) { return width, height }}
	s.Draw([]string{"begun"}, []string{"header", "热泵在冬天如何工作除霜循环", "c", "d", "e", "f", "g"})
	if diff := cmp.Diff([]string{"begun", "header", "热泵在冬天如何工作…", "c", "d", "e", ""}, paint(t, out.String(),
		width)); diff != "" {
		t.Errorf("first: %s", diff)
	}
	s.Draw([]string{"one ended, with a line that is longer than the terminal"}, []string{"header 2"})
	s.Draw(nil, []string{"header 3", "热泵在冬天如何工作除霜循环"})
	want := []string{"begun", "one ended, with a li", "ne that is longer th", "an the terminal", "header 3", "热泵在冬天如何工作…",
		""}
	if diff := cmp.Diff(want, paint(t, out.String(), width)); diff != "" {
		t.Errorf("then: %s", diff)
	}
	s.Draw(nil, nil)
	if diff := cmp.Diff(append(want[:4:4], ""), paint(t, out.String(), width)); diff != "" {
		t.Errorf("last: %s", diff)
	}
}

func TestScreenThatShrinks(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	width := 20
	s := &Screen{out: &out, Size: func() (int, int) { return width, 24 }}
	s.Draw([]string{"begun"}, []string{"a header of 19 cols", "short"})
	width = 10 // the terminal breaks the first line in two, as paint does from the begin
	s.Draw(nil, []string{"new"})
	if diff := cmp.Diff([]string{"begun", "new", ""}, paint(t, out.String(), width)); diff != "" {
		t.Error(diff)
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
	live := []string{
		"research_x  researching  1:05 used, 2:00:00 left", "How do tides work?", "[===========>--------------------------] 1/3 topic blocks",
		"  1. 1/4 Moon", `     rag_hybrid "tide": 1 source`, "  3. 2/4 Coasts", "     hm",
	}
	if diff := cmp.Diff(live, v.live(run, at, 80, 24)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append(live[:3:3], "  and 2 more in work"), v.live(run, at, 80, 5)); diff != "" {
		t.Errorf("low: %s", diff)
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
		if got := v.live(run, at, 80, 24)[0]; got != "research_x  "+tc.want+"  1:05 used, 2:00:00 left" {
			t.Errorf("%s, paused %v: %q", tc.state, tc.paused, got)
		}
	}
	if _, err := v.take(topicqueue.Event{Status: topicqueue.StatusThought, Content: []byte("{")}); err == nil {
		t.Error("a broken payload is no error")
	}
}

func TestBatchView(t *testing.T) {
	t.Parallel()
	v := Batch{Name: "tonight", Runs: 9, Paused: 1, States: map[topicqueue.RunState]int{
		topicqueue.RunQueued: 3, topicqueue.RunResearching: 3, topicqueue.RunCompleted: 2, topicqueue.RunFailed: 1}}
	for _, topic := range []string{"热泵在冬天如何工作除霜循环多久运行一次室外机的噪音有多大", "Tides", "Rain"} {
		v.Worked = append(v.Worked, WorkedRun{
			Run: topicqueue.Run{ID: "research_20260301_200000_abcdefghij", Topic: topic, StartedAt: at.Add(-time.Minute),
				State: topicqueue.RunResearching, Paused: topic == "Tides"},
			Progress: topicqueue.Progress{ProcessedTasks: 1, TotalTask: 3},
		})
	}
	want := []string{
		"batch tonight: 9 runs: 1 failed, 2 completed, 3 researching, 3 queued, 1 of them paused",
		"[===========>------------------] 3/9 runs have ended",
		"  researching   [==>-------] 1/3        1:00 热泵在冬天如何工作除霜循环多久运行一次室外机的噪音有多大",
		"  paused        [==>-------] 1/3        1:00 Tides",
		"  researching   [==>-------] 1/3        1:00 Rain",
	}
	if diff := cmp.Diff(want, v.Live(at, 62, 10)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append(want[:3:3], "  and 2 more in work"), v.Live(at, 62, 4)); diff != "" {
		t.Errorf("low: %s", diff)
	}
	if !strings.Contains(v.Live(at, 130, 10)[2], " abcdefghij ") {
		t.Error("a wide terminal does not show the ids")
	}
}

// TestWriting: what models are writing stands in the live lines, its end foremost, until the answer is done.
func TestWriting(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 21, 0, 0, 0, time.UTC)
	v := newRunView(topicqueue.Options{MaxIterations: 4}, false)
	run := topicqueue.Run{ID: "research_a", Topic: "Dunes", State: topicqueue.RunResearching}
	take := func(block string, d topicqueue.Delta) {
		t.Helper()
		e := topicqueue.NewEvent("", topicqueue.StatusDelta, d)
		e.BlockID, e.Time = block, now
		if lines, err := v.take(e); len(lines) > 0 || err != nil {
			t.Fatalf("%v, %v", lines, err)
		}
	}
	v.block(2).thought = "hm"
	take("", topicqueue.Delta{Step: "section", Answer: "a", Text: "Dunes are\n\n"})
	take("", topicqueue.Delta{Step: "section", Answer: "a", Text: strings.Repeat("high and ", 200) + "热热 steep"})
	take("block_2", topicqueue.Delta{Step: "decide", Answer: "b", Text: "What of"})
	want := []string{"research_a  researching", "Dunes", "  writing: …h and 热热 steep", "  2. 0/4 block_2",
		"     thinking: What of"}
	if diff := cmp.Diff(want, v.live(run, now, 29, 20)); diff != "" {
		t.Error(diff)
	}
	take("", topicqueue.Delta{Answer: "a", Done: true})
	want = []string{"research_a  researching", "Dunes", "  2. 0/4 block_2", "     hm"}
	if diff := cmp.Diff(want, v.live(run, now.Add(writtenTime), 29, 20)); diff != "" {
		t.Error(diff)
	}
}
