package planning_test

import (
	"reflect"
	"strings"
	"testing"

	"nightdesk/pipeline/planning"
	"nightdesk/topicqueue"
)

func TestParseGiven(t *testing.T) {
	t.Parallel()
	plan := "\ufeff# What I want to know\r\n\r\n- **Costs since 2020**\r\n" +
		"  Purchase and running costs.\r\n  - per household\r\n" +
		"* [ ] Noise\n\n2) 3D printing of spare parts\n\tWho prints them?\n"
	got, err := planning.ParseGiven(plan)
	if err != nil {
		t.Fatal(err)
	}
	want := []topicqueue.SubTopic{
		{Title: "Costs since 2020", Overview: "Purchase and running costs. per household"},
		{Title: "Noise"},
		{Title: "3D printing of spare parts", Overview: "Who prints them?"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestParseGivenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		plan string
		want []string
	}{
		"empty":         {"", []string{"line 1: there is no item"}},
		"headings only": {"# Plan\n\n## More\n", []string{"line 3: there is no item"}},
		"plain text":    {"- Costs\nNoise\n", []string{"line 2: not a list item"}},
		"not UTF-8":     {"- \xff\n", []string{"the plan is not UTF-8 text"}},
		"zero byte":     {"- a\x00\n", []string{"the plan is not UTF-8 text"}},
		"too long":      {strings.Repeat("- a\n", 20_000), []string{"the plan has 80000 bytes, but at most 65536"}},
		"long item":     {"- " + strings.Repeat("a", 201), []string{"line 1: an item of 201 bytes, but at most 200"}},
		"much below": {"- Costs\n  " + strings.Repeat("b", 1001),
			[]string{"line 1: the text below the item has 1001 bytes"}},
		"without text":  {"- Costs\n- **\n-\n", []string{"line 2: an item without text", "line 3: an item without text"}},
		"nothing above": {"  - Costs\n", []string{"line 1: it is indented"}},
		"the same twice": {"- Costs of pumps\n- Noise\n- costs of pumps.\n",
			[]string{"line 3: the item is nearly the same as that of line 1"}},
		"too many":        {items(60), []string{"line 51: the plan has 60 items, but at most 50"}},
		"many mistakes":   {"- a\n" + strings.Repeat("text\n", 30), []string{"line 2:", "and 10 more"}},
		"a thematic line": {"- Costs\n---\n", []string{"line 2: not a list item"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := planning.ParseGiven(tt.plan)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in\n%v", want, err)
				}
			}
		})
	}
}

// items returns a plan with n dissimilar items.
func items(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("- " + strings.Repeat(string(rune('a'+i%26)), 5+i/26) + "\n")
	}
	return b.String()
}

// TestGiven: a given plan needs no call, keeps every item in order, and emits the events of every plan.
func TestGiven(t *testing.T) {
	t.Parallel()
	for _, model := range []bool{true, false} {
		d := newDesk(t)
		d.run.Options.Plan = []topicqueue.SubTopic{{Title: "Neap tides", Overview: "When?"}, {Title: "Tidal range"}}
		if !model {
			d.p.Model = nil
		}
		plan, err := d.p.Given(t.Context(), d.run)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Topic != "How do tides work?" || titles(plan) != "Neap tides|Tidal range" ||
			plan.SubTopics[0].Overview != "When?" {
			t.Errorf("plan %+v", plan)
		}
		if len(d.asked)+len(d.queries) > 0 {
			t.Errorf("%d calls of the model and %d searches", len(d.asked), len(d.queries))
		}
		if q := plan.SubTopics[1].Queries; len(q) != 1 || q[0] != "How do tides work? Tidal range" {
			t.Errorf("queries %q", q)
		}
		if want := "start_query_rewriter end_query_rewriter_no_feedback start_search_background end_search_background " +
			"start_research_planner"; d.steps() != want {
			t.Errorf("events %q, want %q", d.steps(), want)
		}
	}
}
