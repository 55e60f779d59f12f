package citation

import (
	"slices"
	"strings"

	"nightdesk/pipeline/markdown"
)

// span is a range of bytes.
type span struct{ start, end int }

// Code returns the byte ranges of Markdown that are code, in order: fenced blocks with their fences, indented blocks,
// inline code. Citations in code are ignored.
func Code(text string) [][2]int {
	if !strings.ContainsAny(text, "`\t") && !strings.Contains(text, "~~~") && !strings.Contains(text, "    ") {
		return nil // most texts have no code
	}
	return markdown.CodeRanges([]byte(text))
}

// Within reports whether a byte offset lies in one of the ranges, which are sorted and do not overlap.
func Within(ranges [][2]int, at int) bool {
	i, found := slices.BinarySearchFunc(ranges, at, func(r [2]int, at int) int { return r[0] - at })
	return found || i > 0 && at < ranges[i-1][1]
}

// CloseCode closes an unterminated last fenced block, so that it cannot include text appended later.
func CloseCode(markdown string) string {
	spans := codeSpans(markdown)
	if len(spans) == 0 || spans[len(spans)-1].end < len(markdown) {
		return markdown
	}
	if fence := openFence(markdown[spans[len(spans)-1].start:]); fence != "" {
		return strings.TrimRight(markdown, "\n") + "\n" + fence + "\n"
	}
	return markdown
}

// openFence returns the opening fence of an unterminated fenced block, and "" for other code.
func openFence(block string) string {
	first, rest, more := strings.Cut(block, "\n")
	fence := fenceRun(strings.TrimLeft(first, " \t>"))
	if fence == "" || !more {
		return fence
	}
	rest = strings.TrimRight(rest, "\n")
	end := strings.TrimLeft(strings.TrimRight(rest[strings.LastIndexByte(rest, '\n')+1:], " \t\r"), " \t>")
	if run := fenceRun(end); run == end && len(run) >= len(fence) && run[0] == fence[0] {
		return ""
	}
	return fence
}

// codeSpans returns the spans of Markdown that are code.
func codeSpans(text string) []span {
	var spans []span
	for _, r := range Code(text) {
		spans = append(spans, span{r[0], r[1]})
	}
	return spans
}

// spansWithin returns the parts of the spans between start and end, relative to start.
func spansWithin(spans []span, start, end int) []span {
	from, _ := slices.BinarySearchFunc(spans, start, func(s span, at int) int { return s.end - at - 1 })
	var within []span
	for _, s := range spans[from:] {
		if s.start >= end {
			break
		}
		within = append(within, span{max(s.start, start) - start, min(s.end, end) - start})
	}
	return within
}

// fenceRun returns the run of three or more ` or ~ that opens or closes a fenced block, or "".
func fenceRun(body string) string {
	n := 0
	for n < len(body) && (body[0] == '`' || body[0] == '~') && body[n] == body[0] {
		n++
	}
	if n < 3 || body[0] == '`' && strings.Contains(body[n:], "`") { // ```x``` on one line is inline code
		return ""
	}
	return body[:n]
}

func isIndented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

// isATXHeading reports whether a line is a heading that begins with 1 to 6 #, also one in a block quote.
func isATXHeading(line string) bool {
	body := strings.TrimLeft(line, " >")
	n := len(body) - len(strings.TrimLeft(body, "#"))
	return n >= 1 && n <= 6 && !isIndented(line) && (n == len(body) || body[n] == ' ' || body[n] == '\t')
}

func isListItem(body string) bool {
	if len(body) > 1 && strings.IndexByte("-*+", body[0]) >= 0 && (body[1] == ' ' || body[1] == '\t') {
		return true
	}
	_, digits := scanNumber(body)
	return digits > 0 && digits+1 < len(body) && (body[digits] == '.' || body[digits] == ')') && body[digits+1] == ' '
}
