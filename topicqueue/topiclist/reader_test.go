package topiclist_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"nightdesk/topicqueue/topiclist"
)

// read reads a whole list. problems: errors of rows, as displayed.
func read(t *testing.T, text, name string, format topiclist.Format, template string) (rows []topiclist.Row, problems []string, r *topiclist.Reader) {
	t.Helper()
	var tmpl *topiclist.Template
	if template != "" {
		var err error
		if tmpl, err = topiclist.ParseTemplate(template); err != nil {
			t.Fatal(err)
		}
	}
	var in io.Reader = strings.NewReader(text)
	if len(text) < 1<<16 {
		in = iotest.OneByteReader(in)
	}
	r, err := topiclist.NewReader(in, name, format, tmpl, nil)
	if err != nil {
		return nil, []string{err.Error()}, nil
	}
	for {
		row, err := r.Next()
		var wrong *topiclist.RowError
		switch {
		case errors.Is(err, io.EOF):
			return rows, problems, r
		case errors.As(err, &wrong):
			problems = append(problems, wrong.Error())
		case err != nil:
			t.Fatal(err)
		default:
			rows = append(rows, row)
		}
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	type row = topiclist.Row
	type options = map[string]string
	for name, tc := range map[string]struct {
		text, file, template string
		format               topiclist.Format // as found out
		want                 []row
	}{
		"text": {text: "\ufeffFirst?\r\n\r\n# a comment\n#1 of the charts, and why\n  Last, with commas; and more  ", format: topiclist.Text,
			want: []row{{Line: 1, Topic: "First?"}, {Line: 4, Topic: "#1 of the charts, and why"}, {Line: 5, Topic: "Last, with commas; and more"}}},
		"lines of nothing that is seen": {text: "\u200b\n \ufeff\u2060\n\x1bWind\u202e\u200b?\n", format: topiclist.Text,
			want: []row{{Line: 3, Topic: "Wind?"}}},
		"text through a template": {text: "heat pumps\nwind\n", template: "What is new about {topic}?", format: topiclist.Text,
			want: []row{{Line: 1, Topic: "What is new about heat pumps?"}, {Line: 2, Topic: "What is new about wind?"}}},
		"text whose first line has the word": {text: "Every topic that matters, and why we think that it does so much, really\n", format: topiclist.Text,
			want: []row{{Line: 1, Topic: "Every topic that matters, and why we think that it does so much, really"}}},
		"empty": {format: topiclist.Text},
		"csv": {text: "topic,Preset,kb,TAGS\n\"Who, or\nwhat, said \"\"no\"\"?\",quick,,\"a, b\"\n\nSecond,,docs,\n,,,\n", format: topiclist.CSV,
			want: []row{{Line: 2, Topic: "Who, or\nwhat, said \"no\"?", Options: options{"preset": "quick", "tags": "a, b"}},
				{Line: 5, Topic: "Second", Options: options{"kb": "docs"}}}},
		"the schema's name of the strategy": {text: "topic,Strategy mode\nWind,focused\n", format: topiclist.CSV,
			want: []row{{Line: 2, Topic: "Wind", Options: options{"strategy": "focused"}}}},
		"semicolons of a spreadsheet": {text: "\ufeffTopic;Citation style\r\nPreise, 2024;numbered\r\n;\r\n", format: topiclist.CSV,
			want: []row{{Line: 2, Topic: "Preise, 2024", Options: options{"citation_style": "numbered"}}}},
		"tabs in UTF-16": {text: "\xff\xfet\x00o\x00p\x00i\x00c\x00\t\x00i\x00d\x00\n\x00\xe4\x00\t\x001\x00\n\x00", format: topiclist.CSV,
			want: []row{{Line: 2, Topic: "ä", Options: options{"id": "1"}}}},
		"one column, by the file's name": {text: "topic\nA\n\"B, c\"\n", file: "x.CSV", format: topiclist.CSV,
			want: []row{{Line: 2, Topic: "A"}, {Line: 3, Topic: "B, c"}}},
		"variables": {text: "Ticker,year,sector,preset\nABC,2024,chips,deep\n", template: "What changed at {ticker} in { Year } {{sic}}?", format: topiclist.CSV,
			want: []row{{Line: 2, Topic: "What changed at ABC in 2024 {sic}?", Options: options{"preset": "deep"}}}},
		"json lines": {text: `{"topic":"A","tags":["x","y z"],"id":17,"Meta":{"a":[1]},"priority":null}` + "\n\n\"B\"\n" + `{"topic":"C\nd","citation-style":"numbered"}`, format: topiclist.JSONLines,
			want: []row{{Line: 1, Topic: "A", Options: options{"tags": "x, y z", "id": "17"}}, {Line: 3, Topic: "B"}, {Line: 4, Topic: "C\nd", Options: options{"citation_style": "numbered"}}}},
		"json lines with variables": {text: `{"n":1.50,"up":true}`, template: "{n} {up}", format: topiclist.JSONLines, want: []row{{Line: 1, Topic: "1.50 true"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, problems, r := read(t, tc.text, tc.file, "", tc.template)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if d := cmp.Diff(tc.want, rows); d != "" || r.Format() != tc.format {
				t.Errorf("format %s, want %s; rows (-want +got):\n%s", r.Format(), tc.format, d)
			}
		})
	}
}

func TestReaderProblems(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text, template string
		format         topiclist.Format
		rows           int
		want           []string // a part of each, in order
	}{
		"quotes and fields, with the true lines": {
			text:   "topic,id\n\"a\nb\",1\nsay \"no\",2\nthree,3,3\n\"x\"y,4\ngood,5\nbad\xff,6\nlast,7\n\"open,8\nmore,9\n",
			rows:   3,
			format: topiclist.CSV,
			want:   []string{"line 4:", "line 5: 3 columns", "line 6:", "line 8:", "line 10:"},
		},
		"a field too large":            {text: "topic,id\na,1\n\"b\nc\",2\n\"" + strings.Repeat("x\n", 3<<20), rows: 2, want: []string{"line 5: the row has more than 4194304 bytes"}},
		"a line too long":              {text: strings.Repeat("x", 5<<20) + "\nnext\n", rows: 1, want: []string{"line 1: it has more than 4194304 bytes"}},
		"no header":                    {format: topiclist.CSV, want: []string{"there is no header row"}},
		"no topic":                     {text: "name,id\na,1\n", format: topiclist.CSV, want: []string{"line 1: no column is named topic"}},
		"a column twice":               {text: "topic,Topic \na,1\n", want: []string{`line 1: the column "topic" occurs twice`}},
		"a column misspelt":            {text: "topic,presett\na,quick\n", want: []string{`did you mean "preset"?`}},
		"several columns":              {format: topiclist.CSV, text: "topik,presett,x,x\na,quick\n", want: []string{`line 1: the column "x" occurs twice; unknown column "topik"; did you mean "topic"?; unknown column "presett"; did you mean "preset"?`}},
		"a variable that is no column": {text: "topic,year\na,1\n", template: "{topic} {ticker}", format: topiclist.CSV, want: []string{"{ticker} is not a column; columns: topic, year"}},
		"a variable of a text":         {text: "a\n", template: "{ticker}", want: []string{"a text list has only {topic}"}},
		"a variable that is empty":     {text: "ticker,year\nA,\nB,2\n", template: "{ticker} {year}", rows: 1, want: []string{"line 2: the template needs {year}"}},
		"json": {text: "{\"topic\":\"a\"}\n{\"topic\":\n[1]\n{\"topic\":{}}\n{\"topic\":\"b\"} {}\n7\n{\"presett\":\"quick\",\"topic\":\"c\"}\n{\"topic\":\"d\",\"Topic\":\"e\"}\n{\"topic\":\"\xff\"}\n", rows: 1,
			want: []string{"line 2: invalid JSON", "line 3: the line is a JSON array", `line 4: "topic": objects are not supported`, "line 5: more than one", "line 6: each line must be", `line 7: unknown column "presett"; did you mean "preset"`, `line 8: duplicate key "topic"`, "line 9: it is not UTF-8"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, problems, _ := read(t, tc.text, "", tc.format, tc.template)
			if len(rows) != tc.rows || len(problems) != len(tc.want) {
				t.Fatalf("%d rows, want %d; problems:\n%s", len(rows), tc.rows, strings.Join(problems, "\n"))
			}
			for i, want := range tc.want {
				if !strings.Contains(problems[i], want) {
					t.Errorf("problem %q, want %q", problems[i], want)
				}
			}
		})
	}
}

func TestUnused(t *testing.T) {
	t.Parallel()
	_, _, r := read(t, "ticker,sector,founded\nA,chips,1970\n", "", topiclist.CSV, "{ticker}")
	if d := cmp.Diff([]string{"founded", "sector"}, r.Unused()); d != "" {
		t.Error(d)
	}
}

func TestParseTemplate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain": "contains no variable", "a {b": "without a }", "a } b {c}": "without a {", "{}": "without a name", "{a{b}}": "without a }", "": "contains no variable", "{{a}}": "contains no variable",
	} {
		if _, err := topiclist.ParseTemplate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
