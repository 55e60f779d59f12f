package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// paragraph is one block of prose: a paragraph, a list item or a heading. Code and tables are no paragraphs.
type paragraph struct {
	start, end int // bytes, without the list marker and without white space at the ends
	item       bool
	heading    bool // marked as one by "#" or an underline; plain short lines are judged by titleLike
	sentences  []sentence
}

// sentence is a Sentence with what its paragraph tells about it.
type sentence struct {
	Sentence
	first bool // of its paragraph
	words []word
}

// parse finds the paragraphs of text and cuts each into sentences.
func parse(text string) []paragraph {
	ps := paragraphs(text)
	for i := range ps {
		p := &ps[i]
		for _, sp := range cut(text[p.start:p.end]) {
			s := sentence{first: len(p.sentences) == 0}
			s.Start, s.End, s.Paragraph = p.start+sp.start, p.start+sp.end, i
			s.Text = text[s.Start:s.End]
			s.words = words(s.Text)
			s.Complete = !p.heading && complete(s.Text, s.words, s.first)
			p.sentences = append(p.sentences, s)
		}
	}
	return ps
}

// paragraphs splits text at blank lines, list markers, headings, code fences and table rows.
func paragraphs(text string) []paragraph {
	var out []paragraph
	var current paragraph
	open := false
	flush := func() {
		if open {
			current = trimmed(text, current)
			if current.start < current.end {
				out = append(out, current)
			}
		}
		open = false
	}
	fence := ""
	for at := 0; at < len(text); {
		end := at + len(text[at:])
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n
		}
		line := text[at:end]
		bare := strings.TrimSpace(line)
		next := end + 1
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "" {
				fence = ""
			}
		case strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~"):
			flush()
			fence = bare[:3]
		case bare == "" || strings.HasPrefix(bare, "|"):
			flush()
		case underline(bare):
			if open && !current.item && !strings.Contains(text[current.start:current.end], "\n") {
				current.heading = true // "Title" over "====="
			}
			flush()
		case strings.HasPrefix(bare, "#") && strings.HasPrefix(strings.TrimLeft(bare, "#"), " "):
			flush()
			mark := strings.Index(line, "#")
			rest := strings.TrimLeft(line[mark:], "#")
			current, open = paragraph{start: end - len(rest), end: end, heading: true}, true
			flush()
		default:
			if n := marker(line); n > 0 {
				flush()
				current, open = paragraph{start: at + n, end: end, item: true}, true
			} else if open {
				current.end = end
			} else {
				current, open = paragraph{start: at, end: end}, true
			}
		}
		at = next
	}
	flush()
	return out
}

// trimmed takes white space off both ends, and a label such as "Note:" off the beginning.
func trimmed(text string, p paragraph) paragraph {
	s := text[p.start:p.end]
	body := strings.TrimLeftFunc(s, unicode.IsSpace)
	body = body[labelLength(body):]
	p.start += len(s) - len(body)
	p.end = p.start + len(strings.TrimRightFunc(body, unicode.IsSpace))
	return p
}

// labelLength returns the length of an admonition label and the space after it: "Note: ", "**Warning:** ". Reports
// quote the statement, not the box that it was printed in.
func labelLength(s string) int {
	i := strings.IndexByte(s, ':')
	if i < 0 || i > 16 {
		return 0
	}
	if !admonition[strings.ToLower(strings.Trim(s[:i], "* _"))] {
		return 0
	}
	rest := strings.TrimLeft(s[i+1:], "*_")
	trim := strings.TrimLeftFunc(rest, unicode.IsSpace)
	if trim == "" || trim == rest {
		return 0
	}
	return len(s) - len(trim)
}

// underline reports a line of nothing but = - * _ or +, as below a heading or between parts.
func underline(line string) bool {
	if len(line) < 3 {
		return false
	}
	return strings.Trim(line, "=-") == "" || strings.Trim(line, "*_ ") == "" || strings.Trim(line, "+-=~^") == ""
}

// marker returns the length of a list marker with the white space around it, 0 when line is no list item.
func marker(line string) int {
	body := strings.TrimLeft(line, " \t\u00a0")
	indent := len(line) - len(body)
	r, size := utf8.DecodeRuneInString(body)
	switch r {
	case '-', '*', '+', '•', '‣', '◦', '▪', '·':
	default:
		n := 0
		for n < len(body) && body[n] >= '0' && body[n] <= '9' {
			n++
		}
		if n == 0 || n > 3 || n == len(body) || (body[n] != '.' && body[n] != ')') {
			return 0
		}
		size = n + 1
	}
	rest := strings.TrimLeft(body[size:], " \t")
	if rest == body[size:] || rest == "" {
		return 0
	}
	return indent + len(body) - len(rest)
}
