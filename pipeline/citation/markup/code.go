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
func Code(text string) Spans {
	if !strings.ContainsAny(text, "`\t") && !strings.Contains(text, "~~~") && !strings.Contains(text, "    ") {
		return nil // most texts have no code
	}
	return markdown.CodeRanges(reader.Parse([]byte(text)), []byte(text))
}

// Has reports whether a byte lies in one of the spans.
func (s Spans) Has(at int) bool {
	i, found := slices.BinarySearchFunc(s, at, func(r Span, at int) int { return r[0] - at })
	return found || i > 0 && at < s[i-1][1]
}

// CloseCode closes an unterminated last fenced block, so that it cannot include text appended later.
func CloseCode(markdown string) string {
	spans := Code(markdown + "\n\nx")
	if len(spans) == 0 || spans[len(spans)-1][1] < len(markdown)+len("\n\nx") {
		return markdown
	}
	fence := openingFence.FindString(markdown[spans[len(spans)-1][0]:])
	return strings.TrimRight(markdown, "\n") + "\n" + strings.TrimLeft(fence, " ") + "\n"
}

var openingFence = regexp.MustCompile("^ *(?:`+|~+)")

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
