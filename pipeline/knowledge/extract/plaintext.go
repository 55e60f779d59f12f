package extract

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract/charset"
	"nightdesk/pipeline/knowledge/extract/document"
)

// plainText extracts text without markup. Underlined lines (as in reStructuredText) are headings. Numbered lines ("3.",
// "3.1") are headings if the whole text uses them this way. Tables and diagrams drawn with spaces are kept verbatim as
// code. Each message of a correspondence is a section.
func plainText(text string) Document {
	text = strings.ToValidUTF8(charset.Lines(text), "\ufffd")
	lines := withoutPageBreaks(strings.Split(text, "\n"))
	p := &plain{b: document.NewBuilder(), text: text, numbered: usesNumbers(lines), messages: document.Messages(lines)}
	for i := 0; i < len(lines); {
		i += p.block(lines, i)
	}
	p.flush()
	said := document.HeadLines(text)
	if len(p.messages) > 0 {
		said.Authors, said.Date = nil, ""
	}
	for _, i := range slices.Sorted(maps.Keys(p.messages)) {
		said.AddAuthor(p.messages[i].From)
		said.Date = max(said.Date, document.ParseDate(p.messages[i].Sent))
	}
	return p.b.Document(said)
}

type plain struct {
	b         *document.Builder
	paragraph []string
	literal   bool   // the last paragraph ended with "::", so a following indented block is code
	marks     string // underline characters in order of first use; the first is the highest level
	numbered  bool
	messages  map[int]document.Message // by line
	text      string                   // whole
	spelled   map[string]bool          // see words
}

// block processes line i and returns the number of lines consumed.
func (p *plain) block(lines []string, i int) int {
	line := strings.TrimRight(lines[i], " \t")
	next := ""
	if i+1 < len(lines) {
		next = strings.TrimRight(lines[i+1], " \t")
	}
	if line == "" {
		p.flush()
		return 1
	}
	if m, begins := p.messages[i]; begins {
		p.flush()
		p.b.Heading(1, document.Person(m.From)+", "+m.Sent, "")
	}
	if len(p.paragraph) == 0 {
		if p.literal && (line[0] == ' ' || line[0] == '\t') {
			return p.indented(lines[i:])
		}
		p.literal = false
		if underlines(next, line) {
			p.heading(line, next[:1])
			return 2
		}
		if rule(line) { // the overline of a heading or a horizontal rule
			if i+2 < len(lines) && next != "" && strings.TrimRight(lines[i+2], " \t") == line {
				p.heading(next, line[:1])
				return 3
			}
			return 1
		}
		if p.numbered && next == "" {
			if level := numberedHeading(line); level > 0 {
				p.b.Heading(level, line, "")
				return 1
			}
		}
		if strings.HasPrefix(line, ".. _") || line == ".." { // a reStructuredText target
			return 1
		}
	}
	p.paragraph = append(p.paragraph, line)
	return 1
}

func (p *plain) heading(text, mark string) {
	if !strings.Contains(p.marks, mark) {
		p.marks += mark
	}
	p.b.Heading(min(6, 1+strings.Index(p.marks, mark)), text, "")
}

func (p *plain) indented(lines []string) int {
	n := 0
	var code []string
	for ; n < len(lines); n++ {
		if l := lines[n]; strings.TrimSpace(l) != "" && l[0] != ' ' && l[0] != '\t' {
			break
		}
		code = append(code, lines[n])
	}
	p.literal = false
	p.b.Code(strings.Join(code, "\n"))
	return n
}

// flush ends the current paragraph. It keeps drawings verbatim, writes lists item by item, and joins prose.
func (p *plain) flush() {
	lines := p.paragraph
	p.paragraph = nil
	if len(lines) == 0 {
		return
	}
	if drawn(lines) {
		p.b.Code(strings.Join(lines, "\n"))
		return
	}
	marker := ""
	var said []string
	write := func() {
		if text := p.join(said); marker != "" {
			p.b.Item(marker, text)
		} else {
			p.b.Paragraph(text)
		}
	}
	for _, line := range lines {
		rest := strings.TrimSpace(line)
		bullet, after := listMarker(strings.Replace(rest, "• ", "- ", 1))
		begins := marker != "" || len(said) == 0 || strings.HasSuffix(said[len(said)-1], ":")
		if strings.TrimSpace(after) != "" && (begins || bullet == "-" && line != rest) {
			write()
			marker, said = bullet, []string{after}
			continue
		}
		said = append(said, rest)
	}
	last := strings.TrimSpace(said[len(said)-1])
	if p.literal = strings.HasSuffix(last, "::"); p.literal {
		said[len(said)-1] = strings.TrimSuffix(last, ":")
		if len(said) == 1 && strings.Trim(last, ": ") == "" {
			said = nil
		}
	}
	write()
}

// join joins the lines of a paragraph. A word that is broken at the end of a line loses its hyphen if the text has it
// without one elsewhere. A hyphen before a short word may stand for a part of a later one: pre- and postwar.
func (p *plain) join(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		stem, broken := strings.CutSuffix(line, "-")
		if i+1 == len(lines) || !broken {
			b.WriteString(line + "\n")
			continue
		}
		stem = stem[strings.LastIndexByte(stem, ' ')+1:]
		next := strings.FieldsFunc(lines[i+1]+" ", func(r rune) bool { return !unicode.IsLetter(r) })
		first, _ := utf8.DecodeRuneInString(lines[i+1])
		last, _ := utf8.DecodeLastRuneInString(stem)
		switch {
		case !unicode.IsLower(first) || !unicode.IsLetter(last):
			b.WriteString(line + "\n")
		case p.words()[strings.ToLower(stem+next[0])]:
			b.WriteString(strings.TrimSuffix(line, "-"))
		case len(next[0]) > 3 || strings.Contains(stem, "-"):
			b.WriteString(line)
		default:
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// words returns the lower-case words of the text.
func (p *plain) words() map[string]bool {
	if p.spelled == nil {
		p.spelled = map[string]bool{}
		for word := range strings.FieldsFuncSeq(strings.ToLower(p.text), func(r rune) bool { return !unicode.IsLetter(r) }) {
			p.spelled[word] = true
		}
	}
	return p.spelled
}

// rule reports whether a line repeats one punctuation mark.
func rule(line string) bool {
	if len(line) < 3 || strings.IndexByte("=-~^\"'`#*+.:_", line[0]) < 0 {
		return false
	}
	return strings.Trim(line, line[:1]) == ""
}

// columns matches the header of a table with at least three columns separated by wide gaps.
var columns = regexp.MustCompile(`\S(?: {2,}|\t)\S.*\S(?: {2,}|\t)\S`)

// underlines reports whether line marks title as a heading: line is a rule at least as long as title, and title is
// unindented and not a table header.
func underlines(line, title string) bool {
	if columns.MatchString(title) {
		return false
	}
	if !rule(line) || title[0] == ' ' || title[0] == '\t' || rule(title) {
		return false
	}
	return len(line) >= utf8.RuneCountInString(title) && strings.ContainsFunc(title, unicode.IsLetter)
}

// numberedHeading returns the level of a heading such as "3.1. Title", where a single number is level 1. It returns 0
// for other lines, such as sentences and long lines.
func numberedHeading(line string) int {
	match := document.NumberedLine.FindStringSubmatch(line)
	if match == nil || len(line) > 80 || strings.ContainsAny(line[len(line)-1:], ".,;:!?") {
		return 0
	}
	return min(6, 1+strings.Count(match[1], "."))
}

// usesNumbers reports whether numbered lines are headings in this text: at least three stand alone, and at least one is
// on a lower level. Without this condition, "1. Buy milk" would become a chapter.
func usesNumbers(lines []string) bool {
	count, deep := 0, false
	for i, line := range lines {
		if i > 0 && strings.TrimSpace(lines[i-1]) != "" || i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != "" {
			continue
		}
		if level := numberedHeading(strings.TrimRight(line, " \t")); level > 0 {
			count++
			deep = deep || level > 1
		}
	}
	return count >= 3 && deep
}

// drawn reports whether at least half of the lines contain columns or line art.
func drawn(lines []string) bool {
	art := 0
	for _, line := range lines {
		text := strings.TrimSpace(line)
		drawn := strings.Contains(text, "    ") || strings.Contains(text, "--+") || strings.Contains(text, "+--")
		if drawn || strings.HasPrefix(text, "|") && strings.HasSuffix(text, "|") {
			art++
		}
	}
	return len(lines) > 1 && art*2 >= len(lines)
}

var pageFooter = regexp.MustCompile(`\[Page \d+\]$`)

// withoutPageBreaks removes page breaks of printed standards: form feeds, page footers, page headers, and the blank
// lines around them. Paragraphs thereby continue across pages.
func withoutPageBreaks(lines []string) []string {
	var out []string
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t")
		if !pageFooter.MatchString(line) {
			out = append(out, strings.ReplaceAll(line, "\f", ""))
			continue
		}
		for len(out) > 0 && strings.TrimSpace(out[len(out)-1]) == "" {
			out = out[:len(out)-1]
		}
		for i+1 < len(lines) && strings.Trim(lines[i+1], " \t\f") == "" {
			i++
		}
		i++ // skip the header of the next page
		for i+1 < len(lines) && strings.Trim(lines[i+1], " \t\f") == "" {
			i++
		}
		if len(out) > 0 && strings.ContainsAny(out[len(out)-1][len(out[len(out)-1])-1:], ".:;!?") {
			out = append(out, "")
		}
	}
	return out
}

// listItem matches a list item: a bullet or a number, and the text. Four spaces before the text belong to it.
var listItem = regexp.MustCompile(`(?s)^(?:[-*+]|(\d{1,9})[.)])(?:[ \t](?: {0,3}([^ ].*)|(.*)))?$`)

// listMarker splits a line into list marker and text. The marker is "-" for every bullet and "3." for a number; it is
// empty if the line is not a list item.
func listMarker(line string) (marker, text string) {
	m := listItem.FindStringSubmatch(line)
	switch {
	case m == nil:
		return "", ""
	case m[1] != "":
		return m[1] + ".", m[2] + m[3]
	}
	return "-", m[2] + m[3]
}
