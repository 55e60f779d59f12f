package extract

import (
	"regexp"
	"slices"
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

// builder collects blocks into a Document.
type builder struct {
	buf      strings.Builder
	sections []Section
	pending  int // index of the first section whose offset is not known yet; the next block sets it
	path     []heading
	heads    []head
	opening  string // first paragraph, if it is one line before any heading
	terms    []Term
	images   []Image
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

func newBuilder() *builder { return &builder{sections: []Section{{}}} }

// begin writes the separator between the last block and the next and returns the start offset of the next block.
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

// heading starts a section. level is 1 to 6, 1 being the highest.
func (b *builder) heading(level int, text, anchor string) {
	text = strings.TrimSpace(strings.TrimSuffix(clean(text), "¶"))
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

func (b *builder) paragraph(text string) {
	alone := !strings.Contains(strings.TrimSpace(text), "\n")
	text = plainStart(clean(text))
	if text != "" {
		if alone && b.buf.Len() == 0 && len(b.heads) == 0 {
			b.opening = text
		}
		b.begin(blockText)
		b.buf.WriteString(text)
	}
}

// item writes a list item. marker is "-" or a number such as "3.".
func (b *builder) item(marker, text string) {
	if text = clean(text); text != "" {
		b.begin(blockItem)
		b.buf.WriteString(marker + " " + text)
	}
}

// row writes one table row. Rows without text are omitted.
func (b *builder) row(cells []string) {
	size := 0
	for i, c := range cells {
		cells[i] = clean(c)
		size += len(cells[i])
	}
	if size == 0 {
		return
	}
	if size > maxCode { // prose in a layout table, which as a row would be cut in the middle
		for _, c := range cells {
			b.paragraph(c)
		}
		return
	}
	b.begin(blockRow)
	b.buf.WriteString("| " + strings.Join(cells, " | ") + " |")
}

// endTable ends the current table, so that the next row begins another.
func (b *builder) endTable() { b.last = min(b.last, blockText) }

// term writes the term of a definition as a separate paragraph.
func (b *builder) term(text, anchor string) {
	text = plainStart(strings.TrimSpace(strings.TrimSuffix(clean(text), "¶")))
	if text == "" {
		return
	}
	b.endTable()
	at := b.begin(blockText)
	b.buf.WriteString(text)
	b.terms = append(b.terms, Term{Text: text, Anchor: anchor, Offset: at})
}

// code writes lines verbatim as a fenced block.
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

// document returns the finished document. If s states no title, it is derived from the headings and the first line.
func (b *builder) document(s stated) Document {
	for ; b.pending < len(b.sections); b.pending++ {
		b.sections[b.pending].Offset = b.buf.Len()
	}
	title := clean(s.title)
	if title == "" {
		title = b.title(s)
		if title == "" {
			title = clean(s.letterhead)
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
		Title: title, Authors: s.authors, Publisher: clean(text.Start(s.publisher, maxValue)), Date: s.date,
		Text: b.buf.String(), Sections: b.sections, Terms: b.terms,
	}
}

// titleHeadings returns the number of leading headings that form the document's title.
func (b *builder) titleHeadings(title string) int {
	switch {
	case len(b.heads) > 1 && title == b.heads[0].text+": "+b.heads[1].text:
		return 2
	case len(b.heads) > 0 && (strings.EqualFold(title, b.heads[0].text) || strings.HasPrefix(title, b.heads[0].text+": ")):
		return 1
	}
	return 0
}

// title derives the title from the structure of a document. Candidates, in order: the only heading of level 1; the only
// heading of the highest level, if the document begins with it; a first line that stands alone; the first of several
// level-1 headings with at most maxHeadLine bytes before it, unless they are numbered sections. Without a candidate,
// title returns "".
func (b *builder) title(s stated) string {
	tops := b.topHeadings()
	switch {
	case len(tops) == 1 && (tops[0].level == 1 || tops[0] == b.heads[0] && tops[0].at == 0):
		title := tops[0].text + b.subtitle(tops[0])
		if title == b.heads[0].text && s.below != "" && len(b.heads) > 1 {
			title += ": " + s.below
		}
		return title
	case b.opening != "" && len(b.opening) < b.buf.Len() && isTitle(b.opening):
		return b.opening
	case len(tops) > 1 && tops[0].level == 1 && tops[0].at <= maxHeadLine && !numberedRow(tops):
		if len(tops) == 2 && tops[0] == b.heads[0] && tops[1] == b.heads[1] { // a masthead
			return tops[0].text + ": " + tops[1].text
		}
		return tops[0].text
	}
	return ""
}

// lead returns the text between the first heading and the next.
func (b *builder) lead() string {
	switch len(b.heads) {
	case 0:
		return ""
	case 1:
		return text.Start(b.buf.String()[b.heads[0].at:], maxHead)
	}
	return strings.TrimSpace(b.buf.String()[b.heads[0].at:b.heads[1].at])
}

// subtitle returns the part of the title that follows the top heading: the only heading of the next level, if it
// directly follows and all other headings are below it. An example is an agency name above the name of a report.
func (b *builder) subtitle(top head) string {
	i := slices.Index(b.heads, top) + 1
	if i >= len(b.heads) || b.heads[i].at != top.at || b.heads[i].level != top.level+1 {
		return ""
	}
	lower := func(h head) bool { return h.level > b.heads[i].level }
	if rest := b.heads[i+1:]; len(rest) == 0 || slices.ContainsFunc(rest, func(h head) bool { return !lower(h) }) {
		return ""
	}
	return ": " + b.heads[i].text
}

// topHeadings returns the headings of the highest level in the document.
func (b *builder) topHeadings() (tops []head) {
	for _, h := range b.heads {
		if len(tops) > 0 && h.level < tops[0].level {
			tops = nil
		}
		if len(tops) == 0 || h.level == tops[0].level {
			tops = append(tops, h)
		}
	}
	return tops
}

// numberedRow reports whether the first heading and at least one other are numbered.
func numberedRow(heads []head) bool {
	return numberedLine.MatchString(heads[0].text) &&
		slices.ContainsFunc(heads[1:], func(h head) bool { return numberedLine.MatchString(h.text) })
}
