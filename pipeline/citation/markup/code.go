package markup

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/markdown"
)

// Span is a range of bytes: the first, and the one behind the last.
type Span = [2]int

// Spans are in order and do not overlap.
type Spans [][2]int

// At returns the span that holds a byte. It drops those before it, so positions must not decrease.
func (s *Spans) At(pos int) (Span, bool) {
	for len(*s) > 0 && (*s)[0][1] <= pos {
		*s = (*s)[1:]
	}
	if len(*s) == 0 || (*s)[0][0] > pos {
		return Span{}, false
	}
	return (*s)[0], true
}

var reader = markdown.NewTextParser()

// Code returns the byte ranges of Markdown that are code, in order: fenced blocks with their fences, indented blocks,
// inline code. Citations in code are ignored.
func Code(text string) [][2]int {
	if !strings.ContainsAny(text, "`\t") && !strings.Contains(text, "~~~") && !strings.Contains(text, "    ") {
		return nil // most texts have no code
	}
	return markdown.CodeRanges(reader.Parse([]byte(text)), []byte(text))
}

// Has reports whether a byte lies in one of the spans.
func (s Spans) Has(at int) bool { return Within(s, at) }

// Within reports whether a byte offset lies in one of the ranges, which are sorted and do not overlap.
func Within(ranges [][2]int, at int) bool {
	i, found := slices.BinarySearchFunc(ranges, at, func(r [2]int, at int) int { return r[0] - at })
	return found || i > 0 && at < ranges[i-1][1]
}

// CloseCode closes an unterminated last fenced block, so that it cannot include text appended later.
func CloseCode(markdown string) string {
	spans := Code(markdown)
	if len(spans) == 0 || spans[len(spans)-1][1] < len(markdown) {
		return markdown
	}
	if fence := openFence(markdown[spans[len(spans)-1][0]:]); fence != "" {
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

// Change replaces a part of a text.
type Change struct {
	Start, End int
	With       string
}

// Replace applies sorted changes to a text, except those that overlap code.
func (s *Scanned) Replace(changes []Change) string {
	var b strings.Builder
	code, pos := s.Code, 0
	for _, c := range changes {
		if code.At(c.Start); len(code) > 0 && code[0][0] < c.End {
			continue
		}
		b.WriteString(s.Markdown[pos:c.Start])
		b.WriteString(c.With)
		pos = c.End
	}
	return b.String() + s.Markdown[pos:]
}

// OutsideCode applies sorted changes to Markdown, except those that overlap code.
func OutsideCode(markdown string, changes []Change) string {
	s := Scanned{Markdown: markdown, Code: Code(markdown)}
	return s.Replace(changes)
}
