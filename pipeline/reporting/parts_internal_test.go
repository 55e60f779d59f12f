package reporting

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/reporting/prose"
)

func TestCleanSection(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in, want string
		bad      bool
	}{
		"plain":             {in: "A.\n\nB.", want: "A.\n\nB."},
		"own title":         {in: "## 2. Locks\n\nA.", want: "A."},
		"own title in bold": {in: "**Locks**\n\nA.", want: "A."},
		"underlined":        {in: "Locks\n=====\n\nA.\n\nWhy\n---\nB.", want: "A.\n\n### Why\n\nB."},
		"levels":            {in: "# A\n\na\n\n## B\n\nb\n\n### C\n\nc", want: "### A\n\na\n\n#### B\n\nb\n\n#### C\n\nc"},
		"deep levels":       {in: "#### A\n\na", want: "### A\n\na"},
		"heading with id":   {in: "### 1.1 Why [CIT-1-01]\n\na", want: "### Why\n\na"},
		"empty heading":     {in: "### A\n\n### B\n\nb\n\n### C", want: "### B\n\nb"},
		"rule":              {in: "A.\n\n---\n\nB.", want: "A.\n\nB."},
		"preamble":          {in: "Sure! Here is the section on locks:\n\nA.", want: "A."},
		"no preamble":       {in: "Here is a fact.\n\nA.", want: "Here is a fact.\n\nA."},
		"own references":    {in: "A.\n\n## References\n\n[1] x", want: "A."},
		"bold references":   {in: "A.\n\n**Sources:**\n\n- x", want: "A."},
		"comment":           {in: "A. <!-- b\n\nc --> D. <!-- open\n\nE.", want: "A.  D."},
		"comment in code":   {in: "A `<!-- x -->`.", want: "A `<!-- x -->`."},
		"code": {
			in:   "A.\n\n```\n# no heading\n\n\nx\n```\n\nB.",
			want: "A.\n\n```\n# no heading\n\n\nx\n```\n\nB.",
		},
		"open code":     {in: "A.\n\n```\n# x", want: "A.\n\n```\n# x\n```"},
		"table":         {in: "| a | b |\n|---|---|\n| c | d |", want: "| a | b |\n|---|---|\n| c | d |"},
		"empty":         {in: " \n ", bad: true},
		"refusal":       {in: "I'm sorry, but I can't help with that.", bad: true},
		"refusal in zh": {in: "抱歉，我无法完成。", bad: true},
		"JSON":          {in: `{"section_content": "A."}`, bad: true},
		"fenced JSON":   {in: "```json\n{\"a\": 1}\n```", bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := prose.CleanSection(tt.in, "Locks")
			if ok == tt.bad || got != tt.want {
				t.Errorf("cleanSection(%q)\n got %q, %v\nwant %q", tt.in, got, ok, tt.want)
			}
		})
	}
}

// FuzzCleanSection: no heading above level three is left outside code, code is closed, and what stands after the section
// stays outside of it.
func FuzzCleanSection(f *testing.F) {
	for _, s := range []string{"# A\n\n```\n# x", "A\n===\nB\n---\n", "~~~\n```\n", "> # x\n\n- # y", "<!-- x", "## Locks\n### 1.\n\n    # x\n", "# 0`\x8b\n# ::\xca::_\n`", "a `b\n===\nc`", "`a\n---\n# b`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, ok := prose.CleanSection(in, "Locks")
		if !ok {
			return
		}
		for _, l := range prose.Lines(got) {
			if l.Level > 0 && l.Level < 3 {
				t.Fatalf("heading of level %d in %q from %q", l.Level, got, in)
			}
		}
		const next = "## Next section\n"
		lines := prose.Lines(markup.CloseCode(got) + "\n\n" + next)
		if !slices.ContainsFunc(lines, func(l prose.Line) bool { return l.Heading == "Next section" && l.Level == 2 }) {
			t.Fatalf("%q swallows what follows", got)
		}
	})
}

// Only a paragraph goes that says nothing new and that nothing can refer back to, and what goes is recorded.
func TestDropRepeated(t *testing.T) {
	t.Parallel()
	const first = "Every change is appended to the log before the data pages are altered [CIT-1-01]. Recovery reads the log from its last checkpoint on. [CIT-1-02]"
	sections := []part{
		{partText: partText{Body: first + " It is short."}},
		{partText: partText{Body: "A standby applies the records at once. [CIT-2-01] Every change is appended to the log before the data pages are altered. [CIT-2-02] That takes four minutes [CIT-2-03]."}},
		{partText: partText{Body: "### Costs\n\nThroughput dropped by 38 % [CIT-3-02].\n\nRecovery reads the log from its last checkpoint on [CIT-3-01].\n\n### Again\n\n" +
			"Recovery reads the log from its last checkpoint on [CIT-3-01].\n\nThat mark has moved since [CIT-3-03]."}},
		{partText: partText{Body: "Recovery reads the log from its last checkpoint on [CIT-4-01]."}},
	}
	want := []string{
		sections[0].Body, sections[1].Body, // another sentence of the paragraph may refer to the repeated one
		// at the end of its part; what follows the other one may refer to it
		"### Costs\n\nThroughput dropped by 38 % [CIT-3-02].\n\n### Again\n\nRecovery reads the log from its last checkpoint on [CIT-3-01].\n\n" +
			"That mark has moved since [CIT-3-03].",
		sections[3].Body, // all there is
	}
	dropRepeated(sections)
	for i, s := range sections {
		if diff := cmp.Diff(want[i], s.Body); diff != "" {
			t.Errorf("section %d (-want +got):\n%s", i, diff)
		}
	}
	if diff := cmp.Diff([]string{"Recovery reads the log from its last checkpoint on."}, sections[2].Repeated); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// A text that goes round in circles is cut to what it says once; markers of what is gone go too.
func TestWithoutLoops(t *testing.T) {
	t.Parallel()
	const said = "The log is written before the data pages are altered by the server."
	const other = "The log is always written before the data pages are altered by the server."
	for in, want := range map[string]string{
		"":   "",
		said: said,
		said + " [CIT-1-01]\n\n[CIT-1-02] " + said + "\n\n" + other + " [CIT-1-03]": said + " [CIT-1-01]\n\n" + other + " [CIT-1-03]",
		said + "\n\n- " + said + "\n\n```\n" + said + "\n```":                       said + "\n\n- " + said + "\n\n```\n" + said + "\n```",
		said + " " + said + " That costs time.":                                     said + " That costs time.",
		said + " " + other + " " + said + " " + other + " That costs time.":         said + " " + other + " That costs time.",
		said + " " + other + " " + said + " That costs time.":                       said + " " + other + " " + said + " That costs time.",
		other + " " + said + "\n\n### Why\n\nIt does.\n\n" + said:                   other + " " + said + "\n\n### Why\n\nIt does.",
		said + "\n\nIt does.\n\n" + said + "\n\n- a\n- b":                           said + "\n\nIt does.\n\n" + said + "\n\n- a\n- b",
		"Run:\n\n    make all\n\n" + said + "\n\n" + said:                           "Run:\n\n    make all\n\n" + said, // indented code stays code
		"It is short. " + said + " It is short.":                                    "It is short. " + said + " It is short.",
	} {
		got, dropped := prose.WithoutLoops(in)
		if got != want {
			t.Errorf("withoutLoops(%q)\n got %q\nwant %q", in, got, want)
		}
		if (got != in) != (len(dropped) > 0) {
			t.Errorf("%q: recorded %q", in, dropped)
		}
	}
}

func TestUncited(t *testing.T) {
	t.Parallel()
	body := "The log is written before the data pages are altered [CIT-1-01]. The standby applies its records at once. [CIT-2-01] Nobody has measured how long this takes.\n\n```\nThis line of code is no sentence at all.\n```"
	if n := prose.Uncited(body); n != 1 {
		t.Errorf("%d uncited sentences, want 1", n)
	}
}

func TestCountWords(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{"": 0, "# A title": 2, "It's *one* [CIT-1-01].": 2, "数据库 log": 4, "a-b c/d": 3} {
		if got := prose.CountWords(in); got != want {
			t.Errorf("countWords(%q) = %d, want %d", in, got, want)
		}
	}
}
