package citation

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/markdown"
)

// span is a range of bytes.
type span struct{ start, end int }

// spans are in order and do not overlap.
type spans []span

// at returns the span that holds a byte. It drops those before it, so positions must not decrease.
func (s *spans) at(pos int) (span, bool) {
	for len(*s) > 0 && (*s)[0].end <= pos {
		*s = (*s)[1:]
	}
	if len(*s) == 0 || (*s)[0].start > pos {
		return span{}, false
	}
	return (*s)[0], true
}

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

// fenceLine begins a fenced block. ```x``` on one line is inline code.
var fenceLine = regexp.MustCompile("^[ \t>]*(?:(`{3,})[^`]*|(~{3,}).*)$")

// openFence returns the opening fence of an unterminated fenced block, and "" for other code.
func openFence(block string) string {
	first, rest, _ := strings.Cut(block, "\n")
	m := fenceLine.FindStringSubmatch(first)
	if m == nil {
		return ""
	}
	fence, rest := m[1]+m[2], strings.TrimRight(rest, "\n")
	end := strings.Trim(rest[strings.LastIndexByte(rest, '\n')+1:], " \t\r>")
	if strings.HasPrefix(end, fence) && strings.Trim(end, fence[:1]) == "" {
		return ""
	}
	return fence
}

// codeSpans returns the spans of Markdown that are code.
func codeSpans(text string) spans {
	var code spans
	for _, r := range Code(text) {
		code = append(code, span{r[0], r[1]})
	}
	return code
}

// within returns the parts of the spans between start and end, relative to start.
func (s spans) within(start, end int) spans {
	from, _ := slices.BinarySearchFunc(s, start, func(s span, at int) int { return s.end - at - 1 })
	var within spans
	for _, s := range s[from:] {
		if s.start >= end {
			break
		}
		within = append(within, span{max(s.start, start) - start, min(s.end, end) - start})
	}
	return within
}

// atxHeading is a line that begins with 1 to 6 #, also in a block quote.
var atxHeading = regexp.MustCompile(`^ {0,3}(?:>[ >]*)?#{1,6}(?:[ \t]|$)`)

// listItem is the beginning of an item of a list.
var listItem = regexp.MustCompile(`^(?:[-*+][ \t]|[0-9０-９٠-٩۰-۹०-९]{1,6}[.)] )`)
