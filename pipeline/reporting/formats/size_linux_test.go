package formats_test

import (
	"errors"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"nightdesk/pipeline/reporting/formats"
)

// What costs a parser most, in paragraphs of the length that is not refused: eight times as much takes about eight times the
// processor's time, and not 64 times. What else the machine does is not counted.
func TestHostileSize(t *testing.T) {
	t.Parallel()
	const size, times = 8_000, 8
	for _, piece := range []string{"[", "![", "*a ", "**a *b ", "_a", "`", "``` `", "<", "<a ", "<!--", "> ", "- ", "1. ", "  - a\n", "|", "| a ", "a|b\n-|-\n", "\\", "&", "&#", "[a](", "[a](<", "[a]: x\n", "](", "~~a", "<https://", "#", "\t", "[[CIT-1-01](#ref-cit-1-01)]", "<a id=\"ref-cit-1-01\"></a> x\n\n"} {
		paragraph := strings.Repeat(piece, 4_000/len(piece)) + "\n\n"
		linear(t, strings.Repeat(paragraph, size/len(paragraph)), times)
	}
	for _, piece := range []string{"b\n", "`a` ", "&amp;", "<https://a.example> ", "> b\n", "- b\n", "|b|\n", "  \n b"} { // one block of them
		linear(t, strings.Repeat(piece, 4*size/len(piece)), times)
	}
}

// linear fails unless several times a text takes about as many times the time that it takes.
func linear(t *testing.T, short string, times int) {
	few, many := min(cpuTime(t, short), cpuTime(t, short), cpuTime(t, short)), cpuTime(t, strings.Repeat(short, times))
	if many > 500*time.Millisecond && many > 4*time.Duration(times)*few {
		t.Errorf("%.20q: %s for %d bytes, %s for %d", short, few, len(short), many, times*len(short))
	}
}

// A row with few cells is filled up to the width of its table, so that a small text can make a large one.
func TestWideTable(t *testing.T) {
	t.Parallel()
	for name, columns := range map[string]int{"wide": 1000, "usual": 10} {
		table := strings.Repeat("|a", columns) + "|\n" + strings.Repeat("|-", columns) + "|\n" + strings.Repeat("|a|\n", 5000)
		for _, where := range []string{"", "> ", "- "} {
			markdown := where + strings.ReplaceAll(table, "\n", "\n"+strings.ReplaceAll(where, "-", " "))
			if _, err := formats.HTML(formats.Report{Markdown: markdown}); errors.Is(err, formats.ErrTooLarge) != (name == "wide") {
				t.Errorf("%s table behind %q: %v", name, where, err)
			}
		}
	}
}

// cpuTime is how long the processor makes both formats of a text.
func cpuTime(t *testing.T, markdown string) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var u syscall.Rusage
		const thread = 1 // RUSAGE_THREAD
		if err := syscall.Getrusage(thread, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	r := formats.Report{Markdown: markdown, Notes: map[string]formats.Note{"ref-cit-1-01": {Title: "T", Quotes: []string{strings.Repeat("some words ", 40)}}}}
	start := used()
	for _, name := range formats.Names() {
		if _, err := formats.Make(name, r); err != nil && !errors.Is(err, formats.ErrTooLarge) {
			t.Fatal(err)
		}
	}
	return max(used()-start, time.Millisecond)
}
