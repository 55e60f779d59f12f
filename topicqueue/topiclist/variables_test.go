package topiclist_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/topicqueue/topiclist"
)

// TestColumnsComeFirst: as in schedules, variables have values, and a column of the same name takes precedence.
func TestColumnsComeFirst(t *testing.T) {
	t.Parallel()
	values := map[string]string{"date": "2026-03-29", "year": "2026", "week": "2026-W13"}
	for name, tc := range map[string]struct {
		text, template string
		want           []string // topics
		unknown        []string
		problem        string // of the list or of one row
	}{
		"a column in the template": {text: "ticker,year\nABC,2025\nDEF,2024\n", template: "{ticker} in {year}",
			want: []string{"ABC in 2025", "DEF in 2024"}},
		"a column under another spelling": {text: "Ticker,Year\nABC,2025\n", template: "{ticker} in {YEAR}",
			want: []string{"ABC in 2025"}},
		"variables in a topic": {text: "topic,year\nChips in {year}\tand on {date},2025\n",
			want: []string{"Chips in 2026\tand on 2026-03-29"}},
		"a column that nothing names": {text: "ticker,year\nABC,2025\n", template: "{ticker} on {date}", want: []string{"ABC on 2026-03-29"}},
		"no column":                   {text: "ticker,x\nABC,1\n", template: "{ticker} in { Year }", want: []string{"ABC in 2026"}},
		"a variable in a column": {text: "ticker,span\nABC,{week}\n", template: "{ticker} in {span}",
			want: []string{"ABC in 2026-W13"}},
		"a column that names its own variable": {text: "ticker,year\nABC,{year}\n", template: "{ticker} in {year}",
			want: []string{"ABC in 2026"}},
		"an empty cell": {text: "ticker,year\nABC,\nDEF,2025\n", template: "{ticker} in {year}",
			want: []string{"DEF in 2025"}, problem: "line 2: the template needs {year}"},
		"text": {text: "News of {date}\n\\frac{a}{b} {Date} {}\n", want: []string{"News of 2026-03-29", "\\frac{a}{b} {Date} {}"},
			unknown: []string{"{a}", "{b}"}},
		"text through a template": {text: "wind in {week}\n", template: "{topic}, {date}", want: []string{"wind in 2026-W13, 2026-03-29"}},
		"JSON Lines": {text: `{"ticker":"ABC","year":2025}` + "\n" + `{"ticker":"DEF"}`, template: "{ticker} in {year}",
			want: []string{"ABC in 2025", "DEF in 2026"}},
		"one topic for all": {text: "ticker,x\nABC,1\n", template: "News of {date}", problem: "all topics would be the same"},
		"one line for all":  {text: "wind\nsun\n", template: "News of {date}", problem: "all topics would be the same"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var template *topiclist.Template
			if tc.template != "" {
				var err error
				if template, err = topiclist.ParseTemplate(tc.template); err != nil {
					t.Fatal(err)
				}
			}
			r, err := topiclist.NewReader(strings.NewReader(tc.text), "", "", template, values)
			var topics []string
			var problem string
			for err == nil {
				var row topiclist.Row
				row, err = r.Next()
				var wrong *topiclist.RowError
				if errors.As(err, &wrong) {
					problem, err = wrong.Error(), nil
				} else if err == nil {
					topics = append(topics, row.Topic)
				}
			}
			if !errors.Is(err, io.EOF) {
				problem = err.Error()
			}
			if d := cmp.Diff(tc.want, topics); d != "" {
				t.Errorf("topics -want +got:\n%s", d)
			}
			if !strings.Contains(problem, tc.problem) || tc.problem == "" && problem != "" {
				t.Errorf("problem %q, want %q", problem, tc.problem)
			}
			if r == nil {
				return
			}
			if d := cmp.Diff(tc.unknown, r.Unknown()); d != "" {
				t.Errorf("unknown -want +got:\n%s", d)
			}
		})
	}
}
