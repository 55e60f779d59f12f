package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence is one sentence of a text.
type Sentence struct {
	Text      string // verbatim: text[Start:End]; may contain line breaks
	Start     int    // bytes
	End       int
	Paragraph int // ordinal of its paragraph in the text
}

// Sentences returns the sentences of s in order. Each list item and each heading is a separate paragraph; its marker is
// not part of a sentence. Code and tables have no sentences. Never fails.
func Sentences(s string) []Sentence {
	var out []Sentence
	for i, p := range paragraphs(s) {
		for _, sp := range cut(s[p.start:p.end]) {
			out = append(out, Sentence{
				Text: s[p.start+sp.start : p.start+sp.end], Start: p.start + sp.start, End: p.start + sp.end, Paragraph: i,
			})
		}
	}
	return out
}

// ParagraphSentences returns the sentences of one paragraph, whatever its lines start with. Never fails.
func ParagraphSentences(paragraph string) []Sentence {
	var out []Sentence
	for _, sp := range cut(paragraph) {
		out = append(out, Sentence{Text: paragraph[sp.start:sp.end], Start: sp.start, End: sp.end})
	}
	return out
}

// paragraphs returns the prose of s: paragraphs, headings and list items without their markers.
func paragraphs(s string) []span {
	var out []span
	open := -1 // start of the current paragraph
	flush := func(end int) {
		if open < 0 {
			return
		}
		body := strings.TrimRightFunc(s[open:end], unicode.IsSpace)
		trimmed := strings.TrimLeftFunc(body, unicode.IsSpace)
		if trimmed != "" {
			out = append(out, span{open + len(body) - len(trimmed), open + len(body)})
		}
		open = -1
	}
	fence := ""
	for at, line := range lines(s) {
		bare := strings.TrimSpace(line)
		switch {
		case fence != "":
			if closesFence(bare, fence) {
				fence = ""
			}
		case opensFence(bare):
			flush(at)
			fence = bare[:3]
		case bare == "", strings.HasPrefix(bare, "|"), underline(bare):
			flush(at)
		case strings.HasPrefix(bare, "#") && strings.HasPrefix(strings.TrimLeft(bare, "#"), " "):
			flush(at)
			open = at + len(line) - len(strings.TrimLeft(strings.TrimLeft(line, " \t"), "#"))
			flush(at + len(line))
		default:
			if n := itemMarker(line); n > 0 {
				flush(at)
				open = at + n
			} else if open < 0 {
				open = at
			}
		}
	}
	flush(len(s))
	return out
}

// lines yields each line of s with its offset, without its line break.
func lines(s string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for at := 0; at < len(s); {
			end := len(s)
			if n := strings.IndexByte(s[at:], '\n'); n >= 0 {
				end = at + n
			}
			if !yield(at, s[at:end]) {
				return
			}
			at = end + 1
		}
	}
}

func opensFence(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

func closesFence(line, fence string) bool {
	return strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == ""
}

// underline reports whether a line consists only of = - * _ + ~ or ^, as below a heading or between parts.
func underline(line string) bool {
	if len(line) < 3 {
		return false
	}
	return strings.Trim(line, "*_ ") == "" || strings.Trim(line, "+-=~^") == ""
}

// itemMarker returns the length of a list marker with the surrounding white space, or 0 if line is not a list item.
func itemMarker(line string) int {
	body := strings.TrimLeft(line, " \t\u00a0")
	r, size := utf8.DecodeRuneInString(body)
	switch r {
	case '-', '*', '+', '•', '‣', '◦', '▪', '·':
	default:
		n := 0
		for n < len(body) && body[n] >= '0' && body[n] <= '9' {
			n++
		}
		if n == 0 || n > 3 || n == len(body) || strings.IndexByte(".)", body[n]) < 0 {
			return 0
		}
		size = n + 1
	}
	rest := strings.TrimLeft(body[size:], " \t")
	if rest == body[size:] || rest == "" {
		return 0
	}
	return len(line) - len(rest)
}
