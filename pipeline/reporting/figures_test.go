package reporting_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

// drew adds the output of a program with figures to a block of the evidence.
func drew(in *reporting.Input, block, seq int, output string, figures ...topicqueue.Figure) {
	s := topicqueue.Source{Kind: topicqueue.SourceCode, Title: "Output of a Python program", Text: output, Hash: topicqueue.TextHash(output),
		Document: "pages/" + topicqueue.TextHash(fmt.Sprint(block, seq)) + ".txt", Figures: figures}
	s.ID = topicqueue.SourceID(s)
	id := topicqueue.BlockCitationID(block, seq)
	b := &in.Blocks[block-1]
	b.Traces = append(slices.Clone(b.Traces), topicqueue.ToolTrace{
		ToolID: "block_1/2.1", CitationID: id, ToolType: "run_code", Query: "print(1)", Source: s,
		Claims: []topicqueue.Claim{{ID: id + ".1", CitationID: id, SourceID: s.ID, Text: output, Quote: output, End: len(output)}},
	})
}

func drawing(sum, ext, title string) topicqueue.Figure {
	return topicqueue.Figure{Path: "figures/" + strings.Repeat(sum, 64) + "." + ext, Title: title}
}

// withFigures is the evidence with two programs: one that two sections cite, and one that none does.
func withFigures(t *testing.T, style string) reporting.Input {
	in := evidence(t, style)
	drew(&in, 1, 9, "Recovery of a log of 32 MB would take 0.8 seconds.",
		drawing("a", "svg", "Time of recovery [CIT-9-09] by *size*\n![x](https://evil.example/x.png)"), drawing("b", "png", ""))
	drew(&in, 2, 9, "The switch takes four minutes in the median of all tests.",
		drawing("a", "svg", "The same again"), topicqueue.Figure{Path: "figures/../../x.svg"}, topicqueue.Figure{Path: "https://evil.example/x.svg"})
	drew(&in, 3, 9, "The throughput falls from 100 to 62 transactions each second.", drawing("c", "svg", "Throughput"))
	return in
}

var pictures = regexp.MustCompile(`(?m)^!\[(.*)\]\((.*)\)$`)

// shown returns a line for each picture of a report: the section, its path, its caption.
func shown(r reporting.Report) []string {
	var out []string
	for section := range strings.SplitSeq(r.Markdown, "\n## ") {
		title, _, _ := strings.Cut(section, "\n")
		lines := strings.Split(section, "\n")
		for i, l := range lines {
			if m := pictures.FindStringSubmatch(l); m != nil {
				out = append(out, title+" | "+m[2]+" | "+lines[i+2])
			}
		}
	}
	return out
}

func TestFigures(t *testing.T) {
	t.Parallel()
	model := modelFunc(func(req llm.Request) (string, error) {
		if req.Prompt.Name != "author" {
			return writer(req)
		}
		_, log, _ := strings.Cut(req.Prompt.User, `section "The log"`)
		log, copies, _ := strings.Cut(log, `section "Copies`)
		for _, shown := range []string{"Figures shown below it", "- \"Time of recovery", "- \"-\" [CIT-1-09]"} {
			if !strings.Contains(log, shown) {
				t.Errorf("the writer is not told of its figures, %q:\n%s", shown, req.Prompt.User)
			}
		}
		copies, _, _ = strings.Cut(copies, "\nPart ")
		if strings.Contains(copies, "Figures shown") {
			t.Errorf("a figure that stands elsewhere:\n%s", req.Prompt.User)
		}
		return authored(req, func(title string) string {
			switch title {
			case "The log":
				return "Recovery of a log twice as long takes twice the time [CIT-1-09]. ![Mine](../cache/x/figures/1.svg)\n\n```sh\nls\n```"
			case "Copies on other machines":
				return "The switch takes four minutes [CIT-2-09], which is longer than the recovery [CIT-2-01]."
			}
			return section(title)
		}), nil
	})
	in := withFigures(t, "")
	base := "../cache/" + in.Run.ID + "/figures/"
	r, err := (&reporting.Reporter{Model: model}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	checkStructure(t, in, r, "")
	want := []string{
		"The log | " + base + strings.Repeat("a", 64) + `.svg | *Figure 1: Time of recovery by \*size\** [[CIT-1-09](#ref-cit-1-09)]`,
		"The log | " + base + strings.Repeat("b", 64) + ".png | *Figure 2* [[CIT-1-09](#ref-cit-1-09)]",
	}
	if got := shown(r); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if r.Statistics.Figures != 2 {
		t.Errorf("%d figures are counted", r.Statistics.Figures)
	}
}

// A picture of a page stands in the sections with claims of its own section of the page, and in no other.
func TestPicturesStandBesideTheirClaims(t *testing.T) {
	t.Parallel()
	beside, elsewhere := drawing("a", "png", "Time of recovery"), drawing("b", "png", "The sea")
	beside.Start, beside.End = 0, 60
	elsewhere.Start, elsewhere.End = 60, 90
	for name, model := range map[string]llm.Model{"written": modelFunc(writer), "quoted": nil} {
		in := evidence(t, "")
		drew(&in, 1, 9, "Recovery of a log of 32 MB would take 0.8 seconds.", beside, elsewhere)
		r, err := (&reporting.Reporter{Model: model}).Report(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(r.Markdown, elsewhere.Path) || r.Statistics.Figures > 1 {
			t.Errorf("%s: %q", name, shown(r))
		}
		if cited := strings.Contains(r.Markdown, "[[CIT-1-09]"); cited != strings.Contains(r.Markdown, beside.Path) {
			t.Errorf("%s: cited: %v; %q", name, cited, shown(r))
		}
	}
}

// A report of quotes shows its figures in the sections too, and says of their captions that they are no quotes.
func TestFiguresWithoutAModel(t *testing.T) {
	t.Parallel()
	for _, style := range []string{topicqueue.CitationAnchors, topicqueue.CitationNumbered} {
		in := withFigures(t, style)
		plain, err := (&reporting.Reporter{}).Report(t.Context(), evidence(t, style))
		if err != nil {
			t.Fatal(err)
		}
		r, err := (&reporting.Reporter{}).Report(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(shown(r), "\n")
		for id, sums := range map[string]string{"CIT-1-09": "ab", "CIT-2-09": "a", "CIT-3-09": "c"} {
			for _, sum := range sums {
				n := strings.Count(got, strings.Repeat(string(sum), 64))
				if slices.Contains(r.Cited, id) && n != 1 {
					t.Errorf("figure %c of %s is shown %d times", sum, id, n)
				}
			}
		}
		if n := len(shown(r)); n < 2 || r.Statistics.Figures != n {
			t.Errorf("%s\n%s", got, r.Markdown)
		}
		if want := "](../cache/" + in.Run.ID + "/pages/"; !strings.Contains(r.Markdown, want) {
			t.Errorf("no reference leads to a program:\n%s", r.Markdown)
		}
		if more := r.Words - plain.Words; more < 0 || more > 60 {
			t.Errorf("the figures make %d words", more)
		}
	}
}
