package extract

import (
	"regexp"
	"strings"

	"nightdesk/pipeline/text"
)

// maxCode bounds one fenced block, in bytes. Longer code becomes several blocks, cut between lines, so that a passage
// holds whole fences only.
const maxCode = 1500

// longFence are rows of backquotes that no fence of ours should have to exceed.
var longFence = regexp.MustCompile("`{16,}")

type blockKind int

const (
	blockNone blockKind = iota
	blockText
	blockItem
	blockRow
)

// builder collects blocks into a Document.
type builder struct {
	buf      strings.Builder
	sections []Section
	pending  int // index of the first section whose offset is not known yet: it is that of the next block
	path     []heading
	first    string // text of the first heading
	terms    []Term
	last     blockKind
}

type heading struct {
	level int
	text  string
}

func newBuilder() *builder { return &builder{sections: []Section{{}}} }

// begin writes what separates the next block from the last one and returns the offset at which the block begins.
func (b *builder) begin(kind blockKind) int {
	switch {
	case b.last == blockNone:
	case b.last == kind && kind != blockText:
		b.buf.WriteByte('\n')
	default:
		b.buf.WriteString("\n\n")
	}
	b.last = kind
	for ; b.pending < len(b.sections); b.pending++ {
		b.sections[b.pending].Offset = b.buf.Len()
	}
	return b.buf.Len()
}

// heading starts a section. level: 1 to 6, 1 the highest.
func (b *builder) heading(level int, text, anchor string) {
	text = strings.TrimSpace(strings.TrimSuffix(clean(text), "¶"))
	if text == "" {
		return
	}
	if b.first == "" {
		b.first = text
	}
	for len(b.path) > 0 && b.path[len(b.path)-1].level >= level {
		b.path = b.path[:len(b.path)-1]
	}
	b.path = append(b.path, heading{level, text})
	names := make([]string, len(b.path))
	for i, h := range b.path {
		names[i] = h.text
	}
	b.sections = append(b.sections, Section{Path: names, Anchor: anchor})
	if b.last != blockNone { // lists and tables do not go on across a heading
		b.last = blockText
	}
}

func (b *builder) paragraph(text string) {
	text = plainStart(clean(text))
	if text != "" {
		b.begin(blockText)
		b.buf.WriteString(text)
	}
}

// item writes a list item. marker: "-" or "3.".
func (b *builder) item(marker, text string) {
	if text = clean(text); text != "" {
		b.begin(blockItem)
		b.buf.WriteString(marker + " " + text)
	}
}

// row writes one row of a table; a row without any text is left out.
func (b *builder) row(cells []string) {
	size := 0
	for i, c := range cells {
		cells[i] = clean(c)
		size += len(cells[i])
	}
	if size == 0 {
		return
	}
	if size > maxCode { // prose in a grid: as a row it could only be cut in the middle
		for _, c := range cells {
			b.paragraph(c)
		}
		return
	}
	b.begin(blockRow)
	b.buf.WriteString("| " + strings.Join(cells, " | ") + " |")
}

// term writes the left side of a definition as a paragraph of its own.
func (b *builder) term(text, anchor string) {
	text = plainStart(strings.TrimSpace(strings.TrimSuffix(clean(text), "¶")))
	if text == "" {
		return
	}
	b.last = min(b.last, blockText)
	at := b.begin(blockText)
	b.buf.WriteString(text)
	b.terms = append(b.terms, Term{Text: text, Anchor: anchor, Offset: at})
}

// code writes a fenced block with these lines as they are.
func (b *builder) code(lines string) {
	lines = cleanCode(lines)
	if strings.TrimSpace(lines) == "" {
		return
	}
	lines = longFence.ReplaceAllString(lines, "```")
	fence := "```"
	for strings.Contains(lines, fence) {
		fence += "`"
	}
	for len(lines) > 0 {
		part := lines
		if len(part) > maxCode {
			part = text.Start(part, maxCode)
			if i := strings.LastIndexByte(part, '\n'); i > 0 {
				part = part[:i]
			}
		}
		lines = strings.TrimPrefix(lines[len(part):], "\n")
		if strings.TrimSpace(part) == "" {
			continue
		}
		b.begin(blockText)
		b.buf.WriteString(fence + "\n" + part + "\n" + fence)
	}
}

// document ends the building. title is what the file says its title is; empty takes the first heading's text if
// that heading is the only one at the top.
func (b *builder) document(title, date string) Document {
	for ; b.pending < len(b.sections); b.pending++ {
		b.sections[b.pending].Offset = b.buf.Len()
	}
	title = clean(title)
	if title == "" {
		title = b.first
	}
	if strings.EqualFold(title, b.first) { // the title is not a part of every path
		for i, s := range b.sections {
			if len(s.Path) > 0 && s.Path[0] == b.first {
				b.sections[i].Path = s.Path[1:]
			}
		}
	}
	return Document{Title: title, Date: date, Text: b.buf.String(), Sections: b.sections, Terms: b.terms}
}
