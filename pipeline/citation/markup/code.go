package markup

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/markdown"
)

// Span is a range of bytes.
type Span struct{ Start, End int }

// Spans are in order and do not overlap.
type Spans []Span

// At returns the span that holds a byte. It drops those before it, so positions must not decrease.
func (s *Spans) At(pos int) (Span, bool) {
	for len(*s) > 0 && (*s)[0].End <= pos {
		*s = (*s)[1:]
	}
	if len(*s) == 0 || (*s)[0].Start > pos {
		return Span{}, false
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
	spans := CodeSpans(markdown)
	if len(spans) == 0 || spans[len(spans)-1].End < len(markdown) {
		return markdown
	}
	if fence := openFence(markdown[spans[len(spans)-1].Start:]); fence != "" {
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

// CodeSpans returns the spans of Markdown that are code.
func CodeSpans(text string) Spans {
	var code Spans
	for _, r := range Code(text) {
		code = append(code, Span{r[0], r[1]})
	}
	return code
}

// Within returns the parts of the spans between start and end, relative to start.
func (s Spans) Within(start, end int) Spans {
	from, _ := slices.BinarySearchFunc(s, start, func(s Span, at int) int { return s.End - at - 1 })
	var within Spans
	for _, s := range s[from:] {
		if s.Start >= end {
			break
		}
		within = append(within, Span{max(s.Start, start) - start, min(s.End, end) - start})
	}
	return within
}

// AtxHeading is a line that begins with 1 to 6 #, also in a block quote.
var AtxHeading = regexp.MustCompile(`^ {0,3}(?:>[ >]*)?#{1,6}(?:[ \t]|$)`)

// ListItem is the beginning of an item of a list.
var ListItem = regexp.MustCompile(`^(?:[-*+][ \t]|[0-9０-９٠-٩۰-۹०-९]{1,6}[.)] )`)

// Change replaces a part of a text.
type Change struct {
	Start, End int
	With       string
}

// OutsideCode applies sorted changes, except those that overlap code.
func OutsideCode(text string, changes []Change) string {
	if len(changes) == 0 {
		return text
	}
	code := CodeSpans(text)
	var b strings.Builder
	pos := 0
	for _, c := range changes {
		if code.At(c.Start); len(code) > 0 && code[0].Start < c.End {
			continue
		}
		b.WriteString(text[pos:c.Start])
		b.WriteString(c.With)
		pos = c.End
	}
	return b.String() + text[pos:]
}
