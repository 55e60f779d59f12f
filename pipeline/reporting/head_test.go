package reporting_test

import (
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

// A report says below its answer how it was checked and what it lacks, and at its end what it is, in its language; what
// a topic or a list has of Markdown is no markup there.
func TestHead(t *testing.T) {
	t.Parallel()
	long := "How does the database keep committed data when a server fails? Say it for version 3.2,\nwith *figures* and [CIT-1-01] <b>sources</b>?"
	for name, c := range map[string]struct {
		change func(*topicqueue.Run)
		model  bool
		want   string
	}{
		"completed": {func(r *topicqueue.Run) { r.Batch, r.Ref = "tonight", "a_17" }, true,
			"**Topic:** How does the database keep committed data when a server fails? · 2026-03-01 · run `research_20250601_220000_abcdefghij` · batch tonight · entry a_17 of its list · completed"},
		"partial": {func(r *topicqueue.Run) {
			r.State, r.Reason = topicqueue.RunPartial, "1 of 3 topic blocks failed"
		}, false, "2026-03-01 · run `research_20250601_220000_abcdefghij`"},
		"topic": {func(r *topicqueue.Run) { r.Topic = long }, true,
			"**Topic:** How does the database keep committed data when a server fails? Say it for version 3.2, with \\*figures\\* and \\[CIT\\-1-01\\] \\<b>sources\\</b>? · 2026-03-01 ·"},
		"German": {func(r *topicqueue.Run) { r.Options.Language, r.Batch = "de", "heute" }, false,
			"2026-03-01 · Lauf `research_20250601_220000_abcdefghij` · Stapel heute · abgeschlossen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := evidence(t, "")
			in.Run.State, in.Run.Batch, in.Run.StartedAt = topicqueue.RunCompleted, "", time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)
			c.change(&in.Run)
			r := &reporting.Reporter{}
			if c.model {
				r.Model = modelFunc(writer)
			}
			got, err := r.Report(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			before := got.Markdown
			got.AddRun(in.Run)
			if !strings.Contains(got.Markdown, "\n\n"+c.want) || strings.Contains(before, c.want) {
				t.Errorf("the end is not\n%s\nbut\n%s", c.want, got.Markdown[max(0, len(got.Markdown)-600):])
			}
			lines := 0
			for _, shown := range []bool{name == "partial", c.model} { // why it is partial, and the result of the check
				if shown {
					lines++
				}
			}
			if len(got.Tree.Status) != lines {
				t.Errorf("below the answer: %v", got.Tree.Status)
			}
		})
	}
}
