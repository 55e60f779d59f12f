package extract

import (
	"strings"
	"unicode"
)

// maxNesting bounds quotes and lists within each other; deeper markers are text.
const maxNesting = 32

// Markdown extracts CommonMark with GitHub's tables and alerts, front matter, footnotes, definition lists and heading
// ids; HTML in it goes through the rules of HTML. The anchor of a heading is its {#id}, else what GitHub and Hugo make
// of its text.
func Markdown(text string) Document {
	text = strings.ToValidUTF8(normaliseLines(text), "\ufffd")
	front, rest := frontMatter(text)
	lines := strings.Split(rest, "\n")
	m := &markdown{b: newBuilder(), slugs: map[string]int{}, refs: references(lines)}
	m.blocks(lines, 0)
	return m.b.document(front.title, front.date)
}

type markdown struct {
	b      *builder
	slugs  map[string]int  // how often each anchor was made
	refs   map[string]bool // labels of link definitions, folded
	marker string          // of the list item whose first text is to come
}

// blocks writes the blocks of one container: the document, a quote, a list item.
func (m *markdown) blocks(lines []string, depth int) {
	for i := 0; i < len(lines); {
		i += m.block(lines[i:], depth)
	}
}

// block writes the block that begins with the first line and returns the number of its lines, at least 1.
func (m *markdown) block(lines []string, depth int) int {
	line := lines[0]
	indent, rest := indentation(line)
	switch {
	case rest == "":
		return 1
	case indent >= 4:
		return m.indented(lines)
	}
	if level, text := atx(rest); level > 0 {
		m.heading(level, text)
		return 1
	}
	if fence, _ := fenceOf(rest); fence != "" {
		return m.fenced(lines, fence, indent)
	}
	if thematic(rest) || definition(rest) || directive(rest) {
		return 1
	}
	if rest[0] == '>' && depth < maxNesting {
		return m.quote(lines, depth)
	}
	if marker, _ := listMarker(rest); marker != "" && depth < maxNesting {
		return m.list(lines, depth)
	}
	if n := m.html(lines, rest); n > 0 {
		return n
	}
	if len(lines) > 1 && strings.Contains(rest, "|") && delimiterRow(lines[1]) {
		return m.table(lines)
	}
	return m.paragraph(lines, depth)
}

// paragraph reads on to the end of the paragraph, which may turn out to be a heading or a term.
func (m *markdown) paragraph(lines []string, depth int) int {
	n := 1
	for ; n < len(lines); n++ {
		indent, rest := indentation(lines[n])
		if rest == "" {
			break
		}
		if indent < 4 {
			if level := setext(rest); level > 0 {
				m.heading(level, strings.Join(lines[:n], "\n"))
				return n + 1
			}
			if text, ok := strings.CutPrefix(rest, ": "); ok && n == 1 {
				m.b.term(m.inline(lines[0]), "")
				m.text(text)
				return n + 1
			}
			if interrupts(rest, depth) || n+1 < len(lines) && strings.Contains(rest, "|") && delimiterRow(lines[n+1]) {
				break
			}
		}
	}
	text := strings.Join(lines[:n], "\n")
	if strings.HasPrefix(strings.TrimSpace(text), "[^") { // a footnote: its label goes
		if _, after, ok := strings.Cut(text, "]:"); ok {
			text = after
		}
	}
	m.text(text)
	return n
}

// interrupts reports whether a line ends the paragraph before it.
func interrupts(rest string, depth int) bool {
	if level, _ := atx(rest); level > 0 {
		return true
	}
	if fence, _ := fenceOf(rest); fence != "" {
		return true
	}
	if rest[0] == '>' && depth < maxNesting || thematic(rest) {
		return true
	}
	if marker, text := listMarker(rest); marker != "" && depth < maxNesting && strings.TrimSpace(text) != "" {
		return marker == "-" || marker == "1."
	}
	return rest[0] == '<' && blockTag(rest) != ""
}

// text writes a paragraph, or the first line of a list item.
func (m *markdown) text(raw string) {
	text := m.inline(raw)
	if text == "" {
		return
	}
	if m.marker != "" {
		m.b.item(m.marker, text)
		m.marker = ""
		return
	}
	m.b.paragraph(text)
}

func (m *markdown) heading(level int, raw string) {
	raw = strings.TrimSpace(raw)
	anchor := ""
	if strings.HasSuffix(raw, "}") {
		if i := strings.LastIndexByte(raw, '{'); i >= 0 {
			for f := range strings.FieldsSeq(raw[i+1 : len(raw)-1]) {
				if id, ok := strings.CutPrefix(f, "#"); ok {
					anchor = id
				}
			}
			if anchor != "" || strings.HasPrefix(raw[i:], "{.") || strings.HasPrefix(raw[i:], "{:") {
				raw = raw[:i]
			}
		}
	}
	text := m.inline(raw)
	if slug := m.slug(text); anchor == "" {
		anchor = slug
	}
	m.marker = ""
	m.b.heading(level, text, anchor)
}

// slug returns GitHub's anchor for a heading: lower case, spaces as hyphens, no punctuation, numbered when repeated.
func (m *markdown) slug(text string) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, text)
	n := m.slugs[slug]
	m.slugs[slug]++
	if n > 0 {
		slug += "-" + itoa(n)
	}
	return slug
}

func (m *markdown) indented(lines []string) int {
	var code []string
	n := 0
	for ; n < len(lines); n++ {
		indent, rest := indentation(lines[n])
		if rest != "" && indent < 4 {
			break
		}
		code = append(code, outdent(lines[n], 4))
	}
	m.marker = ""
	m.b.code(strings.Join(code, "\n"))
	return max(n, 1)
}

func (m *markdown) fenced(lines []string, fence string, indent int) int {
	n := 1
	var code []string
	for ; n < len(lines); n++ {
		if in, rest := indentation(lines[n]); in < 4 && strings.HasPrefix(rest, fence) &&
			strings.Trim(rest, fence[:1]+" \t") == "" {
			n++
			break
		}
		code = append(code, outdent(lines[n], indent))
	}
	m.marker = ""
	m.b.code(strings.Join(code, "\n"))
	return n
}

func (m *markdown) table(lines []string) int {
	n := 0
	m.marker = ""
	for ; n < len(lines); n++ {
		_, rest := indentation(lines[n])
		if rest == "" || n > 1 && !strings.Contains(rest, "|") && interrupts(rest, 0) {
			break
		}
		if n == 1 {
			continue // the row of dashes
		}
		var cells []string
		for _, c := range splitRow(rest) {
			cells = append(cells, m.inline(c))
		}
		m.b.row(cells)
	}
	m.b.last = min(m.b.last, blockText)
	return n
}

// quote takes the marks from a block quote and writes what is left.
func (m *markdown) quote(lines []string, depth int) int {
	var inner []string
	n := 0
	for ; n < len(lines); n++ {
		indent, rest := indentation(lines[n])
		if rest == "" {
			break
		}
		if indent < 4 && rest[0] == '>' {
			inner = append(inner, strings.TrimPrefix(rest[1:], " "))
			continue
		}
		if last := strings.TrimSpace(inner[len(inner)-1]); last == "" || interrupts(rest, depth) || indent >= 4 {
			break
		}
		inner = append(inner, lines[n]) // a lazy continuation of the paragraph
	}
	if name, ok := strings.CutPrefix(strings.TrimSpace(inner[0]), "[!"); ok { // GitHub's alerts
		if name, ok = strings.CutSuffix(name, "]"); ok && name != "" {
			m.b.paragraph(strings.ToUpper(name[:1]) + strings.ToLower(name[1:]))
			inner = inner[1:]
		}
	}
	m.marker = ""
	m.blocks(inner, depth+1)
	return n
}
