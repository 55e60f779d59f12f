package citation_test

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"nightdesk/pipeline/citation"
)

// TestVerifyHostile: a text that is made to be slow takes no longer than its length allows: 16 times the text takes about
// 16 times the processor's time, and not 256 times. What else the machine does is not counted.
func TestVerifyHostile(t *testing.T) {
	t.Parallel()
	const size, times = 4_000, 16
	large := hostile(times * size)
	for name, in := range hostile(size) {
		short, long := min(cpuTime(t, in), cpuTime(t, in), cpuTime(t, in)), cpuTime(t, large[name])
		if long > 500*time.Millisecond && long > 5*times*short {
			t.Errorf("%s: %s for %d bytes, %s for %d", name, short, len(in), long, len(large[name]))
		}
	}
}

// cpuTime is how long the processor verifies a text.
func cpuTime(t *testing.T, in string) time.Duration {
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
	start := used()
	shelf().Verify(in, citation.VerifyOptions{Sanitize: true})
	return max(used()-start, time.Millisecond)
}

// hostile returns texts of about size bytes that are slow for parsers that look back or ahead too often.
func hostile(size int) map[string]string {
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	return map[string]string{
		"open brackets":  fill("["),
		"nested":         strings.Repeat("[", size/2) + "1" + strings.Repeat("]", size/2),
		"nested lists":   nestedList(size / 125),
		"entries":        "## Sources\n" + strings.Repeat("[1] https://no.example/x\n", size/6),
		"ordered":        "## Sources\n" + strings.Repeat("1. x\n", size/6),
		"headings":       strings.Repeat("Sources\n", size/10) + strings.Repeat("## Sources\n", size/10),
		"footnotes":      strings.Repeat("[^1]: a.b\n", size/6),
		"lines":          strings.Repeat("x [1]\n", size/6) + "\n## Sources\n[1] https://ok.example/alpha\n",
		"several":        "## Sources\n[1] https://ok.example/alpha " + fill("[2] https://ok.example/beta "),
		"tags":           fill("<tool_call>"),
		"other tags":     fill("<a href=x "),
		"closed tags":    fill("<function></parameter>"),
		"addresses":      fill("https://"),
		"long address":   "https://ok.example/" + fill("a"),
		"dots":           "## Sources\n[1] " + fill("a.b "),
		"quotes":         fill("> "),
		"backticks":      fill("` `` "),
		"dollars":        fill("$x [7] "),
		"definitions":    strings.Repeat("[a]: https://no.example\n", size/6) + fill("[b][a]"),
		"tables":         "## Sources\n" + fill("| [1] | a.pdf |\n"),
		"word [1]":       fill("word[1] ") + "\n\n## Sources\n[1] https://ok.example/alpha\n",
		"parentheses":    "## Sources\n[1] " + fill("("),
		"blank entries":  "## Sources\n" + strings.Repeat("[1] a\n\n\n\n", size/10),
		"sentences":      strings.Repeat("A. ", size/10) + "[1]\n\n## Sources\n[1] https://ok.example/alpha\n",
		"superscript":    fill("<sup>1</sup>"),
		"ellipsis":       fill("https://ok.example/a...b "),
		"anchors":        fill(`<a id="ref-1"></a> [1] `),
		"spaces":         fill(" ") + "[1]\n\n## Sources\n[1] https://ok.example/alpha\n",
		"definition":     fill("[1]: "),
		"remarks":        strings.Repeat("[^1]: a\n[^2]\n", size/13) + "\n## Sources\n[1] https://ok.example/alpha\n",
		"names":          strings.Repeat("[^a]: one two three four five https://no.example six seven\n", size/57) + "\n## Sources\n[1] https://ok.example/alpha\n",
		"tail":           "x [1]\n\n" + strings.Repeat("1. https://no.example\n", size/22),
		"long tail":      "x [1]\n\n1. a\n" + strings.Repeat("  https://no.example\n", size/22),
		"one line":       "## Sources\n" + fill("https://no.example/x "),
		"entities":       fill("&#91;1&#93; https&#58;//a.b "),
		"hidden":         fill("a\u200bhttp://") + "\u202e",
		"embedded":       fill("\u202ea"),
		"vendor links":   fill("[oai_citation:1‡a](b"),
		"hashes":         fill("[#1]"),
		"refs":           fill("<ref>1</ref>"),
		"raised":         fill("¹²"),
		"images":         fill("!["),
		"carets":         fill("[^"),
		"named notes":    fill("[^a] ") + "\n\n[^a]: https://ok.example/alpha\n",
		"named lines":    strings.Repeat("[^a]: https://no.example\n", size/6),
		"unlabelled":     "## Sources\n" + fill("a b c\n") + "https://ok.example/alpha\n",
		"garbled":        "## Sources\n" + fill("[1] htps://no.example/x no.example/y\n"),
		"escapes":        "## Sources\n[1] https://ok.example/" + fill("%E2"),
		"tool tokens":    fill("[TOOL_CALLS] <|channel|>analysis "),
		"vendor tokens":  fill("\ue200cite"),
		"joined":         fill("[2], ") + "\n\n## Sources\n[1] https://ok.example/alpha\n[2] https://no.example\n",
		"announced":      fill("(see [2]) ") + "\n\n## Sources\n[1] https://ok.example/alpha\n[2] https://no.example\n",
		"zero width":     fill("[\u200b1\u200b]"),
		"parameters":     "https://ok.example/beta?" + fill("id=1&x=2&"),
		"unspaced":       fill("见https://ok.example/alpha参考"),
		"scripts":        fill("<script>"),
		"removed spaces": fill("[2] ") + "\n\n## Sources\n[1] https://ok.example/alpha\n[2] https://no.example\n",
	}
}

func nestedList(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i%400) + "- a [1]\n")
	}
	return b.String()
}
