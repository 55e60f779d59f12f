// Package webpage extracts the text of web pages without what surrounds it, and what they state about themselves.
//
// The entry point is Read. Fragment and Chapter append the HTML in Markdown files and books to another document.
package webpage

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/knowledge/extract/document"
)

// Read extracts a page. page is UTF-8 and may be malformed; the result is empty if the page has no text.
//
// Navigation, page headers and footers, scripts, styles and forms are omitted. If the page marks its main content
// (main, a single article, the body of well-known documentation generators), only that is extracted.
func Read(page string) document.Document {
	tree := parseTree(page)
	root := contentRoot(tree)
	markFurniture(root)
	b := document.NewBuilder()
	w := &walker{b: b, inArticle: root.tag != "body" && root.tag != "html"}
	w.walk(root)
	w.flush()
	said := document.Metadata{Title: commentTitle(page)}
	said.Or(pageStates(tree, root))
	lead := document.HeadLines("#\n\n" + b.Lead()) // between the title and the first section
	said.Date = cmp.Or(said.Date, lead.Date, firstTime(tree))
	said.Publisher = cmp.Or(said.Publisher, lead.Publisher)
	doc := b.Document(said)
	doc.Images, doc.About = licensed(w.images, tree), about(tree)
	return doc
}

// Inline returns the text of a piece of HTML as one line.
func Inline(fragment string) string { return inlineText(parseTree(fragment)) }

// Fragment appends a piece of HTML from a Markdown file to b.
func Fragment(b *document.Builder, fragment string) { appendTo(b, parseTree(fragment)) }

// Chapter appends the content of a page that is a part of a book to b.
func Chapter(b *document.Builder, page string) { appendTo(b, contentRoot(parseTree(page))) }

func appendTo(b *document.Builder, root *node) {
	w := &walker{b: b, inArticle: true}
	w.walk(root)
	w.flush()
}

// walker writes a tree to a builder.
type walker struct {
	b          *document.Builder
	inline     strings.Builder // text of the current paragraph
	marker     string          // marker of the current list item, until its first text
	lists      []list
	anchor     string // id of the innermost section that has no text yet
	loose      string // last id of another element since the last text
	looseAt    int    // offset in inline of loose
	inArticle  bool
	admonition int   // nesting depth of notes and warnings, whose titles are not headings
	broken     bool  // the previous node was a <br>
	figure     *node // enclosing figure
	images     []document.Image
}

type list struct {
	ordered bool
	next    int
}

func (w *walker) walkAll(n *node) {
	for _, k := range n.kids {
		w.walk(k)
	}
}

func (w *walker) walk(n *node) {
	if n.tag == "" {
		if strings.TrimSpace(n.text) != "" {
			w.broken = false
		}
		w.inline.WriteString(n.text)
		return
	}
	if w.skipped(n) {
		if block[n.tag] {
			w.flush()
		}
		return
	}
	if block[n.tag] {
		w.flush()
	}
	w.noteAnchor(n)
	switch n.tag {
	case "br":
		if w.broken { // two in a row end the paragraph
			w.flush()
		}
		w.inline.WriteByte('\n')
		w.broken = true
	case "h1", "h2", "h3", "h4", "h5", "h6":
		w.heading(n)
	case "ul", "ol", "menu", "dir":
		if !linkFarm(n) {
			w.list(n)
		}
	case "li":
		w.item()
		w.walkAll(n)
		w.flush()
		w.marker = ""
	case "dt":
		w.b.Term(inlineText(n), firstID(n))
		w.written()
	case "pre", "listing", "xmp":
		w.flush()
		w.b.Code(rawText(n))
		w.written()
	case "table":
		w.table(n)
	case "img":
		if tex := writtenFormula(n); tex != "" {
			w.inline.WriteString(notTwice(tex, w.inline.String()))
		} else {
			w.image(n, w.figure)
		}
	case "q":
		w.inline.WriteByte('"')
		w.walkAll(n)
		w.inline.WriteByte('"')
	default:
		if text, ok := notation(n, w.inline.String()); ok {
			w.inline.WriteString(text)
		} else {
			w.container(n)
		}
	}
}

// container walks an element without special handling.
func (w *walker) container(n *node) {
	article, notes, figure := w.inArticle, w.admonition, w.figure
	if n.tag == "figure" {
		w.figure = n
	}
	w.inArticle = w.inArticle || n.tag == "article" || n.tag == "main" || slices.Contains(microdataOf(n), "articlebody")
	if isAdmonition(n) {
		w.admonition++
	}
	w.walkAll(n)
	if block[n.tag] {
		w.flush()
	}
	w.inArticle, w.admonition, w.figure = article, notes, figure
}

// flush ends the current paragraph.
func (w *walker) flush() {
	text := w.inline.String()
	loose := w.loose
	if strings.TrimSpace(text[w.looseAt:]) != "" {
		loose = "" // the id belongs to this text and not to the next
	}
	w.inline.Reset()
	w.broken, w.looseAt = false, 0
	if document.Clean(text) == "" {
		return
	}
	if w.marker != "" {
		w.b.Item(w.marker, text)
		w.marker = ""
	} else {
		w.b.Paragraph(text)
	}
	w.written()
	w.loose = loose
}

func (w *walker) written() { w.anchor, w.loose = "", "" }

func (w *walker) list(n *node) {
	next := 1
	if s, err := strconv.Atoi(n.attr["start"]); err == nil {
		next = s
	}
	w.lists = append(w.lists, list{n.tag == "ol", next})
	w.walkAll(n)
	w.flush()
	w.lists = w.lists[:len(w.lists)-1]
}

func (w *walker) item() {
	w.marker = "-"
	if len(w.lists) > 0 {
		if l := &w.lists[len(w.lists)-1]; l.ordered {
			w.marker = strconv.Itoa(l.next) + "."
			l.next++
		}
	}
}

func (w *walker) heading(n *node) {
	text := inlineText(n)
	if w.admonition > 0 {
		w.b.Paragraph(text)
		w.written()
		return
	}
	anchor := firstID(n)
	if w.anchor != "" && n.attr["id"] == "" {
		anchor = w.anchor
	}
	if anchor == "" {
		anchor = w.loose
	}
	w.b.Heading(int(n.tag[1]-'0'), text, anchor)
	w.written()
}

// noteAnchor records the id of an element, which may become the anchor of the following heading.
func (w *walker) noteAnchor(n *node) {
	id := n.attr["id"]
	if id == "" && n.tag == "a" {
		id = n.attr["name"]
	}
	switch {
	case id == "":
	case n.tag == "section" || n.tag == "article" || n.tag == "div": // the element ends the current paragraph
		w.anchor = id
	default:
		w.loose, w.looseAt = id, w.inline.Len()
	}
}

// firstID returns the id of n or, if it has none, the first id or link name inside it.
func firstID(n *node) string {
	found := n.find(func(k *node) bool { return k.attr["id"] != "" || k.tag == "a" && k.attr["name"] != "" })
	switch {
	case found == nil:
		return ""
	case found.attr["id"] != "":
		return found.attr["id"]
	}
	return found.attr["name"]
}

// inlineText returns the text of an element as one line. Blocks inside it are separated by spaces.
func inlineText(n *node) string {
	var b strings.Builder
	writeInline(&b, n)
	return document.Clean(b.String())
}

func writeInline(b *strings.Builder, n *node) {
	for _, k := range n.kids {
		switch {
		case k.tag == "":
			b.WriteString(k.text)
		case isNoise(k):
		case k.tag == "br":
			b.WriteByte(' ')
		case block[k.tag]:
			b.WriteByte(' ')
			writeInline(b, k)
			b.WriteByte(' ')
		default:
			if text, ok := notation(k, b.String()); ok {
				b.WriteString(text)
			} else {
				writeInline(b, k)
			}
		}
	}
}

// rawText returns the text of an element with its white space, for code.
func rawText(n *node) string {
	var b strings.Builder
	var write func(*node)
	write = func(n *node) {
		for _, k := range n.kids {
			switch {
			case k.tag == "":
				b.WriteString(k.text)
			case k.tag == "br":
				b.WriteByte('\n')
			case isNoise(k) || k.hasClass("linenos") || k.hasClass("lineno"):
			default:
				write(k)
				if block[k.tag] && !strings.HasSuffix(b.String(), "\n") {
					b.WriteByte('\n')
				}
			}
		}
	}
	write(n)
	return b.String()
}
