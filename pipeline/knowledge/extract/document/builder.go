package document

import (
	"regexp"
	"strings"

	"nightdesk/pipeline/text"
)

// maxCode is the maximum size of a fenced block, in bytes. Longer code is split between lines into several blocks, so
// that a passage contains only complete fences.
const maxCode = 1500

// longFence matches runs of backquotes that would require an excessively long fence.
var longFence = regexp.MustCompile("`{16,}")

type blockKind int

const (
	blockNone blockKind = iota
	blockText
	blockItem
	blockRow
)

// Builder collects blocks into a Document. NewBuilder returns an empty one.
type Builder struct {
	buf      strings.Builder
	sections []Section
	pending  int // index of the first section whose offset is not known yet; the next block sets it
	path     []heading
	heads    []head
	opening  string // first paragraph, if it is one line before any heading
	terms    []Term
	last     blockKind
}

type heading struct {
	level int
	text  string
}

// head is a heading with the number of text bytes before it.
type head struct {
	heading
	at int
}

// NewBuilder returns a builder of an empty document.
func NewBuilder() *Builder { return &Builder{sections: []Section{{}}} }

// Len returns the number of bytes written so far.
func (b *Builder) Len() int { return b.buf.Len() }

// Text returns the text written so far.
func (b *Builder) Text() string { return b.buf.String() }

// Section returns the index of the current section in Document.Sections.
func (b *Builder) Section() int { return len(b.sections) - 1 }

// begin writes the separator between the last block and the next and returns the start offset of the next block.
func (b *Builder) begin(kind blockKind) int {
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

// Heading starts a section. level is 1 to 6, 1 being the highest.
func (b *Builder) Heading(level int, text, anchor string) {
	text = strings.TrimSpace(strings.TrimSuffix(Clean(unspaced(text)), "¶"))
	if text == "" {
		return
	}
	b.heads = append(b.heads, head{heading{level, text}, b.buf.Len()})
	for len(b.path) > 0 && b.path[len(b.path)-1].level >= level {
		b.path = b.path[:len(b.path)-1]
	}
	b.path = append(b.path, heading{level, text})
	names := make([]string, len(b.path))
	for i, h := range b.path {
		names[i] = h.text
	}
	b.sections = append(b.sections, Section{Path: names, Anchor: anchor})
	if b.last != blockNone { // lists and tables do not continue across a heading
		b.last = blockText
	}
}

// Paragraph writes a paragraph: text may contain line breaks.
func (b *Builder) Paragraph(text string) {
	alone := !strings.Contains(strings.TrimSpace(text), "\n")
	text = plainStart(Clean(unspaced(text)))
	if text != "" {
		if alone && b.buf.Len() == 0 && len(b.heads) == 0 {
			b.opening = text
		}
		b.begin(blockText)
		b.buf.WriteString(text)
	}
}

// Item writes a list item. marker is "-" or a number such as "3.".
func (b *Builder) Item(marker, text string) {
	if text = Clean(text); text != "" {
		b.begin(blockItem)
		b.buf.WriteString(marker + " " + text)
	}
}

// Row writes one table row. Rows without text are omitted.
func (b *Builder) Row(cells []string) {
	size := 0
	for i, c := range cells {
		cells[i] = Clean(c)
		size += len(cells[i])
	}
	if size == 0 {
		return
	}
	if size > maxCode { // prose in a layout table, which as a row would be cut in the middle
		for _, c := range cells {
			b.Paragraph(c)
		}
		return
	}
	b.begin(blockRow)
	b.buf.WriteString("| " + strings.Join(cells, " | ") + " |")
}

// EndTable ends the current table, so that the next row begins another.
func (b *Builder) EndTable() { b.last = min(b.last, blockText) }

// Term writes the term of a definition as a separate paragraph.
func (b *Builder) Term(text, anchor string) {
	text = plainStart(strings.TrimSpace(strings.TrimSuffix(Clean(text), "¶")))
	if text == "" {
		return
	}
	b.EndTable()
	at := b.begin(blockText)
	b.buf.WriteString(text)
	b.terms = append(b.terms, Term{Text: text, Anchor: anchor, Offset: at})
}

// Code writes lines verbatim as a fenced block.
func (b *Builder) Code(lines string) {
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

// Append writes the text of another document, with its headings from a level down.
func (b *Builder) Append(doc Document, level int) {
	for i, s := range doc.Sections {
		end := len(doc.Text)
		if i+1 < len(doc.Sections) {
			end = doc.Sections[i+1].Offset
		}
		if n := len(s.Path); n > 0 {
			b.Heading(min(level+n-1, 6), s.Path[n-1], "")
		}
		if text := strings.TrimSpace(doc.Text[s.Offset:end]); text != "" {
			b.begin(blockText)
			b.buf.WriteString(text)
		}
	}
}

// Document returns the finished document. If s states no title, it is derived from the headings and the first line.
func (b *Builder) Document(s Metadata) Document {
	for ; b.pending < len(b.sections); b.pending++ {
		b.sections[b.pending].Offset = b.buf.Len()
	}
	if s.OfFile {
		above := ""
		if len(b.heads) > 0 && b.heads[0].at == 0 {
			above = "# " + b.heads[0].text + "\n\n"
		}
		printed := HeadLines(above + text.Start(b.buf.String(), maxHead))
		printed.Title = ""
		printed.Or(s)
		s = printed
	}
	title := Clean(s.Title)
	if title == "" {
		title = b.title(s)
		if title == "" {
			title = Clean(s.letterhead)
		}
	}
	for n := range b.titleHeadings(title) { // remove the title from the section paths
		for i, s := range b.sections {
			if len(s.Path) > 0 && s.Path[0] == b.heads[n].text {
				b.sections[i].Path = s.Path[1:]
			}
		}
	}
	return Document{
		Title: title, Authors: s.Authors, Publisher: Clean(text.Start(s.Publisher, maxValue)), Date: s.Date,
		Text: b.buf.String(), Sections: b.sections, Terms: b.terms,
	}
}

// Lead returns the text between the first heading and the next.
func (b *Builder) Lead() string {
	switch len(b.heads) {
	case 0:
		return ""
	case 1:
		return text.Start(b.buf.String()[b.heads[0].at:], maxHead)
	}
	return strings.TrimSpace(b.buf.String()[b.heads[0].at:b.heads[1].at])
}
