package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/report"
)

func never(string) bool { return false }

// TestRoundTrip: what Parse reads, Canonical writes in one form, which reads the same again.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                 "",
		"A [CIT-1-01]. B.[CIT-1-02] C":     "A [CIT-1-01]. B. [CIT-1-02] C",
		"甲是一[CIT-1-01]。乙是二。":               "甲是一[CIT-1-01]。乙是二。",
		"甲是一\n乙":                           "甲是一乙",
		"[CIT-1-01] A.":                    "[CIT-1-01] A.",
		"A `[CIT-1-01]` b [CIT-1-01].":     "A `[CIT-1-01]` b [CIT-1-01].",
		"A [[CIT-1-01](#ref-cit-1-01)].":   "A [CIT-1-01].",
		"# A\nb\nc":                        "# A\n\nb c",
		"1. a\n2. b\n\n   c\n3. d":         "1. a\n\n2. b\n\n   c\n\n3. d",
		"- a\n  - b\n  - c\n- d [PLAN-01]": "- a\n  - b\n  - c\n- d [PLAN-01]",
		"> a\n> b\n>\n> - c":               "> a b\n> \n> - c",
		"| a | b |\n|---|--:|\n| `x\\|y` | 2 [CIT-1-01] |": "| a | b |\n| --- | ---: |\n| `x\\|y` | 2 [CIT-1-01] |",
		"```go\nx := 1\n\ny\n```\n":                        "```go\nx := 1\n\ny\n```",
		"    indented":                                     "```\nindented\n```",
		"```\nopen":                                        "```\nopen\n```",
		"<div>\nx\n</div>":                                 "\\<div> x \\</div>",
		"<!-- a\n\nb -->\n\nc":                             "c",
		"A <!-- b --> c <!-- open":                         "A  c  open",
	} {
		got := report.Canonical(report.Parse(in))
		if got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
		if again := report.Canonical(report.Parse(got)); again != got {
			t.Errorf("%q becomes %q", got, again)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("# A\n\n- b [CIT-1-01]. c\n  1. d\n\n> e\n\n|a|b|\n|-|-|\n|c|d [PLAN-01]|\n\n```\nx")
	f.Add("a\n\n1. \n2. x\n- y\n\n    z\n\n<p>\n\n<!--")
	f.Fuzz(func(t *testing.T, in string) {
		blocks := report.Clean(report.Parse(strings.ToValidUTF8(in, "")), "Title", never)
		report.EachBlock(blocks, func(b *report.Block) {
			if b.Kind == report.KindHeading && b.Level < 3 {
				t.Fatalf("a heading of level %d", b.Level)
			}
		})
		const next = "\n\n## Next"
		after := report.Parse(report.Canonical(blocks) + next)
		if len(after) == 0 || after[len(after)-1].Level != 2 {
			t.Fatalf("%q swallows what follows", report.Canonical(blocks))
		}
		var edits report.Edits
		for _, s := range report.Statements(blocks) {
			edits.Replace(s)
		}
		edits.Apply(blocks)
	})
}

func TestClean(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want string }{
		"plain":             {"A.\n\nB.", "A.\n\nB."},
		"own title":         {"## 2. Locks\n\nA.", "A."},
		"own title in bold": {"**Locks**\n\nA.", "A."},
		"underlined":        {"Locks\n=====\n\nA.\n\nWhy\n---\nB.", "A.\n\n### Why\n\nB."},
		"levels":            {"# A\n\na\n\n## B\n\nb\n\n### C\n\nc", "### A\n\na\n\n#### B\n\nb\n\n#### C\n\nc"},
		"deep levels":       {"#### A\n\na", "### A\n\na"},
		"heading with id":   {"### 1.1 Why [CIT-1-01]\n\na", "### Why\n\na"},
		"empty heading":     {"### A\n\n### B\n\nb\n\n### C", "### B\n\nb"},
		"rule":              {"A.\n\n---\n\nB.", "A.\n\nB."},
		"own references":    {"A.\n\n## References\n\n[1] x", "A."},
		"bold references":   {"A.\n\n**References:**\n\n- x", "A."},
	} {
		ends := func(heading string) bool { return heading == "References" }
		if got := report.Canonical(report.Clean(report.Parse(tt.in), "Locks", ends)); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tt.want)
		}
	}
}

func TestStatements(t *testing.T) {
	t.Parallel()
	body := "First [CIT-1-01]. It costs 3.5 euros. [CIT-1-02][PLAN-01] Then this\nand that [CIT-1-03]!\n\n### A heading\n\n- An item [CIT-2-01].\n- Another one\n  goes on [CIT-2-02].\n\n" +
		"| Kind | Wait |\n|---|---|\n| a | b [CIT-3-01] |\n\n```\nx [CIT-4-01].\n```\n\nEnd."
	said := func(blocks []report.Block) (list []string) {
		for _, s := range report.Statements(blocks) {
			list = append(list, s.Text()+" <"+strings.Join(s.IDs(), " ")+">")
		}
		return list
	}
	want := []string{"First. <CIT-1-01>", "It costs 3.5 euros. <CIT-1-02 PLAN-01>", "Then this and that! <CIT-1-03>",
		"An item. <CIT-2-01>", "Another one goes on. <CIT-2-02>", "a | b <CIT-3-01>", "End. <>"}
	if diff := cmp.Diff(want, said(report.Parse(body))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	odd := said(report.Parse("It fell to 4. [CIT-1-01] [CIT-1-02]. Then it rose [CIT-1-03]."))
	if diff := cmp.Diff([]string{"It fell to 4.. <CIT-1-01 CIT-1-02>", "Then it rose. <CIT-1-03>"}, odd); diff != "" {
		t.Errorf("a second stop behind markers (-want +got):\n%s", diff)
	}
	whole := said(report.ParseWhole("One. Two [CIT-1-01]. Three.\n\nFour. [CIT-1-02]"))
	if diff := cmp.Diff([]string{"One. Two. Three. <CIT-1-01>", "Four. <CIT-1-02>"}, whole); diff != "" {
		t.Errorf("whole paragraphs (-want +got):\n%s", diff)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		body string
		n    int
		text string
		want string
	}{
		{"A is one [CIT-1-01]. B is two [CIT-1-02]. C is three [CIT-1-03].", 1, "", "A is one [CIT-1-01]. C is three [CIT-1-03]."},
		{"A is one [CIT-1-01]. B is two [CIT-1-02]. C is three [CIT-1-03].", 0, "", "B is two [CIT-1-02]. C is three [CIT-1-03]."},
		{"A is one [CIT-1-01]. B is two [CIT-1-02]. C is three [CIT-1-03].", 2, "D. E.", "A is one [CIT-1-01]. B is two [CIT-1-02]. D. E."},
		{"A is one. 2) B is two.", 0, "", "2\\) B is two."},
		{"- A is one [CIT-1-01].\n- B is two [CIT-1-02].", 0, "", "- B is two [CIT-1-02]."},
		{"甲是一 [CIT-1-01]。乙是二 [CIT-1-02]。丙是三 [CIT-1-03]。", 1, "", "甲是一[CIT-1-01]。丙是三[CIT-1-03]。"},
		{"| a | b |\n|---|---|\n| c | d [CIT-1-01] |\n| e | f [CIT-1-02] |", 0, "", "| a | b |\n| --- | --- |\n| e | f [CIT-1-02] |"},
		{"### A\n\nB is two.\n\n### C\n\nD.", 0, "", "### C\n\nD."},
	} {
		blocks := report.Parse(tt.body)
		var edits report.Edits
		edits.Replace(report.Statements(blocks)[tt.n], report.Written(tt.text)...)
		if got := report.Canonical(edits.Apply(blocks)); got != tt.want {
			t.Errorf("%q without %d: %q, want %q", tt.body, tt.n, got, tt.want)
		}
	}
}

// TestDropRepeated: a text that goes round in circles is cut to what it says once.
func TestDropRepeated(t *testing.T) {
	t.Parallel()
	const said = "The log is written before the data pages are altered by the server."
	const other = "The log is always written before the data pages are altered by the server."
	for in, want := range map[string]string{
		"":   "",
		said: said,
		said + " [CIT-1-01]\n\n[CIT-1-02] " + said + "\n\n" + other + " [CIT-1-03]": said + " [CIT-1-01]\n\n" + other + " [CIT-1-03]",
		said + "\n\n- " + said + "\n\n```\n" + said + "\n```":                       said + "\n\n- " + said + "\n\n```\n" + said + "\n```",
		said + " " + said + " That costs time.":                                     said + " " + said + " That costs time.",
		said + " " + other + " " + said + " " + other:                               said + " " + other,
		said + " " + other + " " + said + " That costs time.":                       said + " " + other + " " + said + " That costs time.",
		other + " " + said + "\n\n### Why\n\nIt does.\n\n" + said:                   other + " " + said + "\n\n### Why\n\nIt does.",
		said + "\n\nIt does.\n\n" + said + "\n\n- a\n- b":                           said + "\n\nIt does.\n\n" + said + "\n\n- a\n- b",
		"It is short. " + said + " It is short.":                                    "It is short. " + said + " It is short.",
	} {
		left, dropped := report.DropRepeated(report.Parse(in), map[string]bool{})
		if got := report.Canonical(left); got != want || (got != in) != (len(dropped) > 0) {
			t.Errorf("%q\n got %q\nwant %q\nrecorded %q", in, got, want, dropped)
		}
	}
}

// TestMarkdown: what a reader of the Markdown sees, and that Read takes it apart again.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	sentence := func(text string, cites ...report.Cite) report.Sentence {
		return report.Sentence{Text: text, Cites: cites}
	}
	marked := sentence("C is three.", report.Cite{ID: "CIT-1-02", At: 10})
	marked.State = report.StateMarked
	r := report.Report{Format: report.Format, Title: "A * B", Status: []string{"**Check:** fine."},
		Sections: []report.Section{
			{Role: report.RoleAnswer, Blocks: []report.Block{{Kind: report.KindParagraph, Sentences: []report.Sentence{
				sentence("A is one.", report.Cite{ID: "CIT-1-01", At: 8}, report.Cite{ID: "CIT-1-03", At: 8}), marked}}}},
			{Role: report.RoleSection, Title: "More", Blocks: append(report.Parse("- a\n- b [CIT-1-02]"),
				report.Block{Kind: report.KindExcerpt, Citation: "CIT-1-01", Blocks: report.ParseWhole("Quoted. Twice.")},
				report.Block{Kind: report.KindFigure, Citation: "CIT-1-02", Picture: "figures/x.svg", Title: "Curve",
					Sentences: []report.Sentence{{Text: "Figure 1: Curve"}}})},
		},
		References: []report.Reference{
			{Entries: []report.Entry{{IDs: []string{"CIT-1-01", "CIT-1-03"}, Label: "1", Text: "one"}}},
			{Entries: []report.Entry{{IDs: []string{"CIT-1-02"}, Label: "2", Text: "two"}}}},
		Imprint: []string{"*Made by hand.*"}}
	const want = "# A \\* B\n\nA is one [[1](#ref-1)]. C is three [[2](#ref-2)]. \\[unsupported\\]\n\n> **Check:** fine.\n\n" +
		"## More\n\n- a\n- b [[2](#ref-2)]\n\nQuoted. Twice. [[1](#ref-1)]\n\n![Curve](../cache/r/figures/x.svg)\n\n*Figure 1: Curve* [[2](#ref-2)]\n\n" +
		"## References\n\n<a id=\"ref-1\"></a> [1] one\n\n<a id=\"ref-2\"></a> [2] two\n\n---\n\n*Made by hand.*\n"
	got := r.Markdown(report.Style{Bundle: "../cache/r/", Marked: "unsupported", References: "References"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again := report.Read(got)
	if again.Title != r.Title || len(again.Sections) != 2 || len(again.References) != 2 || len(again.Imprint) != 1 {
		t.Errorf("read again: %+v", again)
	}
	if ids := report.Cited(again.Sections[0].Blocks); len(ids) != 2 || ids[0] != "1" {
		t.Errorf("cited: %v", ids)
	}
}

// TestCite: a citation is added where it belongs: before the full stop, or in the cell that has none yet.
func TestCite(t *testing.T) {
	t.Parallel()
	head := "| Option | Effect | Cost | Rule |\n| --- | --- | --- | --- |\n"
	for body, want := range map[string]string{
		"A is one.": "A is one [CIT-9-01].",
		head + "| A | 14 percent [CIT-1-01] | as for B | – |":                           head + "| A | 14 percent [CIT-1-01] | as for B [CIT-9-01] | – |",
		head + "| A | 14 percent [CIT-1-01] | as for B | may be added [CIT-1-02] |":     head + "| A | 14 percent [CIT-1-01] | as for B [CIT-9-01] | may be added [CIT-1-02] |",
		head + "| A | 14 percent [CIT-1-01] | 8 [CIT-1-03] | may be added [CIT-1-02] |": head + "| A | 14 percent [CIT-1-01] | 8 [CIT-1-03] | may be added [CIT-1-02] [CIT-9-01] |",
		head + "| A | – | – | – |":                                                      head + "| A [CIT-9-01] | – | – | – |",
	} {
		blocks := report.Parse(body)
		report.Statements(blocks)[0].Cite("CIT-9-01")
		if got := report.Canonical(blocks); strings.ReplaceAll(got, "] [", "][") != strings.ReplaceAll(want, "] [", "][") {
			t.Errorf("%s\n%s", got, want)
		}
	}
}
