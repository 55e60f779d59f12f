package reporting_test

import (
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

// A report says below its title what it is, in its language; what a topic or a list has of Markdown is no markup there.
func TestHead(t *testing.T) {
	t.Parallel()
	long := "How does the database keep committed data when a server fails? Say it for version 3.2,\nwith *figures* and [CIT-1-01] <b>sources</b>?"
	for name, c := range map[string]struct {
		change func(*topicqueue.Run)
		model  bool
		want   string
	}{
		"completed": {func(r *topicqueue.Run) { r.Batch, r.Ref = "tonight", "a_17" }, true,
			"> **Topic:** How does the database keep committed data when a server fails?  \n> 2026-03-01 · run `research_20250601_220000_abcdefghij` · batch tonight · entry a_17 of its list · completed  \n> **Check:** 0 of 10 cited sentences confirmed, 10 not confirmed; 1 further sentence with figures, without a source."},
		"partial": {func(r *topicqueue.Run) {
			r.State, r.Reason = topicqueue.RunPartial, "1 of 3 topic blocks failed"
		}, false, "> 2026-03-01 · run `research_20250601_220000_abcdefghij`  \n> **Partial:** 1 of 3 topic blocks failed."},
		"topic": {func(r *topicqueue.Run) { r.Topic = long }, true,
			"> **Topic:** How does the database keep committed data when a server fails? Say it for version 3.2, with \\*figures\\* and \\[CIT\\-1-01\\] \\<b>sources\\</b>?  \n> 2026-03-01 ·"},
		"German": {func(r *topicqueue.Run) { r.Options.Language, r.Batch = "de", "heute" }, false,
			"> 2026-03-01 · Lauf `research_20250601_220000_abcdefghij` · Stapel heute · abgeschlossen"},
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
			got.AddHead(in.Run)
			title, _, _ := strings.Cut(before, "\n")
			rest, ok := strings.CutPrefix(got.Markdown, title+"\n\n"+c.want)
			if !ok || !strings.HasSuffix(before, rest[strings.Index(rest, "\n\n"):]) {
				t.Errorf("the head is not\n%s\nbut\n%s", c.want, got.Markdown[:min(len(got.Markdown), 600)])
			}
			if d := got.Verification.Compare(got.Markdown, in.Registry(), in.Changes); len(d.Absent)+len(d.Unchecked)+len(d.References) > 0 {
				t.Errorf("the report with its head is another one than was checked: %+v", d)
			}
		})
	}
}
