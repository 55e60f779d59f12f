package formats_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"nightdesk/pipeline/lineartest"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/topicqueue/scaletest"
)

// What costs a parser most, in paragraphs of the length that is not refused: several times as much takes about as many times the
// processor's time, and not the square of it. What else the machine does is not counted.
func TestHostileSize(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	const size = 8_000
	times := scaletest.Of(3, 8)
	for _, piece := range []string{"[", "![", "*a ", "**a *b ", "_a", "`", "``` `", "<", "<a ", "<!--", "> ", "- ", "1. ", "  - a\n", "|", "| a ", "a|b\n-|-\n", "\\", "&", "&#", "[a](", "[a](<", "[a]: x\n", "](", "~~a", "<https://", "#", "\t", "[[CIT-1-01](#ref-cit-1-01)]", "<a id=\"ref-cit-1-01\"></a> x\n\n"} {
		paragraph := strings.Repeat(piece, 4_000/len(piece)) + "\n\n"
		linear(t, strings.Repeat(paragraph, size/len(paragraph)), times)
	}
	for _, piece := range []string{"b\n", "`a` ", "&amp;", "<https://a.example> ", "> b\n", "- b\n", "|b|\n", "  \n b"} { // one block of them
		linear(t, strings.Repeat(piece, 4*size/len(piece)), times)
	}
}

// linear checks that several times a text takes about as many times the time that it takes.
func linear(t *testing.T, short string, times int) {
	t.Helper()
	lineartest.Check(t, fmt.Sprintf("%.20q", short), short, strings.Repeat(short, times), func(markdown string) {
		r := formats.Report{Tree: report.Read(markdown), Notes: map[string]formats.Note{"ref-cit-1-01": {Title: "T", Passages: []formats.Passage{{Quote: strings.Repeat("some words ", 40)}}}}}
		for _, name := range formats.Names() {
			if _, err := formats.Make(name, r); err != nil && !errors.Is(err, formats.ErrTooLarge) {
				t.Fatal(err)
			}
		}
	})
}

// A row with few cells is filled up to the width of its table, so that a small text can make a large one.
func TestWideTable(t *testing.T) {
	t.Parallel()
	for name, columns := range map[string]int{"wide": 1000, "usual": 10} {
		table := strings.Repeat("|a", columns) + "|\n" + strings.Repeat("|-", columns) + "|\n" + strings.Repeat("|a|\n", 5000)
		for _, where := range []string{"", "> ", "- "} {
			markdown := where + strings.ReplaceAll(table, "\n", "\n"+strings.ReplaceAll(where, "-", " "))
			if _, err := formats.HTML(formats.Report{Tree: report.Read(markdown)}); errors.Is(err, formats.ErrTooLarge) != (name == "wide") {
				t.Errorf("%s table behind %q: %v", name, where, err)
			}
		}
	}
}
