package extract

import (
	"strconv"
	"strings"
)

// HTML extracts a page. page is UTF-8 in any state of repair; the result is empty when the page has no text.
//
// Navigation, page headers and footers, scripts, styles and forms do not reach the text. Where the page says what its
// content is (main, a single article, the body of the well-known documentation generators), only that is taken.
func HTML(page string) Document {
	tree := parseTree(page)
	root := contentRoot(tree)
	markFurniture(root)
	b := newBuilder()
	w := &htmlWalker{b: b, inArticle: root.tag != "body" && root.tag != "html"}
	w.walk(root)
	w.flush()
	said := stated{title: commentTitle(page)}
	said.or(pageStates(tree, root))
	if said.date == "" { // in the lines between its title and the first section
		said.date = headLines(b.lead()).date
	}
	doc := b.document(said)
	doc.Images = licensed(b.images, tree)
	return doc
}

// htmlFragment appends a piece of HTML, as it stands in Markdown, to a document under construction.
func htmlFragment(b *builder, fragment string) {
	w := &htmlWalker{b: b, inArticle: true}
	w.walk(parseTree(fragment))
	w.flush()
}

// htmlWalker writes a tree to a builder.
type htmlWalker struct {
	b          *builder
	inline     strings.Builder // text of the paragraph under way
	marker     string          // of the list item under way, until its first text
	lists      []list
	anchor     string // the id of the innermost section that has begun without any text yet
	loose      string // an id of something smaller since the last text
	looseAt    int    // where in inline it stands
	inArticle  bool
	admonition int   // depth of notes and warnings: their titles are no headings
	broken     bool  // the last thing was a <br>
	figure     *node // around what is walked
}

type list struct {
	ordered bool
	next    int
}

func (w *htmlWalker) walkAll(n *node) {
	for _, k := range n.kids {
		w.walk(k)
	}
}

func (w *htmlWalker) walk(n *node) {
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
		if w.broken { // two in a row end a paragraph
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
		w.b.term(inlineText(n), firstID(n))
		w.written()
	case "pre", "listing", "xmp":
		w.flush()
		w.b.code(rawText(n))
		w.written()
	case "table":
		w.table(n)
	case "sup":
		w.inline.WriteString(superscript(n, w.inline.String()))
	case "math":
		w.inline.WriteString(formula(n))
	case "img":
		w.image(n, w.figure)
	case "q":
		w.inline.WriteByte('"')
		w.walkAll(n)
		w.inline.WriteByte('"')
	default:
		w.container(n)
	}
}

// container walks an element that has no form of its own.
func (w *htmlWalker) container(n *node) {
	article, notes, figure := w.inArticle, w.admonition, w.figure
	if n.tag == "figure" {
		w.figure = n
	}
	w.inArticle = w.inArticle || n.tag == "article" || n.tag == "main" || microdataOf(n)["articlebody"]
	if isAdmonition(n) {
		w.admonition++
	}
	w.walkAll(n)
	if block[n.tag] {
		w.flush()
	}
	w.inArticle, w.admonition, w.figure = article, notes, figure
}

// flush ends the paragraph under way.
func (w *htmlWalker) flush() {
	text := w.inline.String()
	loose := w.loose
	if strings.TrimSpace(text[w.looseAt:]) != "" {
		loose = "" // it leads to this text and not to what follows
	}
	w.inline.Reset()
	w.broken, w.looseAt = false, 0
	if clean(text) == "" {
		return
	}
	if w.marker != "" {
		w.b.item(w.marker, text)
		w.marker = ""
	} else {
		w.b.paragraph(text)
	}
	w.written()
	w.loose = loose
}

func (w *htmlWalker) written() { w.anchor, w.loose = "", "" }

func (w *htmlWalker) list(n *node) {
	next := 1
	if s, err := strconv.Atoi(n.attr["start"]); err == nil {
		next = s
	}
	w.lists = append(w.lists, list{n.tag == "ol", next})
	w.walkAll(n)
	w.flush()
	w.lists = w.lists[:len(w.lists)-1]
}

func (w *htmlWalker) item() {
	w.marker = "-"
	if len(w.lists) > 0 {
		if l := &w.lists[len(w.lists)-1]; l.ordered {
			w.marker = strconv.Itoa(l.next) + "."
			l.next++
		}
	}
}

func (w *htmlWalker) heading(n *node) {
	text := inlineText(n)
	if w.admonition > 0 {
		w.b.paragraph(text)
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
	w.b.heading(int(n.tag[1]-'0'), text, anchor)
	w.written()
}

// noteAnchor remembers the id of an element that may turn out to lead to the heading which follows.
func (w *htmlWalker) noteAnchor(n *node) {
	id := n.attr["id"]
	if id == "" && n.tag == "a" {
		id = n.attr["name"]
	}
	switch {
	case id == "":
	case n.tag == "section" || n.tag == "article" || n.tag == "div": // it ends the paragraph under way
		w.anchor = id
	default:
		w.loose, w.looseAt = id, w.inline.Len()
	}
}

// firstID returns the id of the element, else that of the first link or span with an id or name in it.
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

// inlineText returns the words of an element as one line of text, blocks in it separated by spaces.
func inlineText(n *node) string {
	var b strings.Builder
	writeInline(&b, n)
	return clean(b.String())
}

func writeInline(b *strings.Builder, n *node) {
	for _, k := range n.kids {
		switch {
		case k.tag == "":
			b.WriteString(k.text)
		case isNoise(k):
		case k.tag == "br":
			b.WriteByte(' ')
		case k.tag == "sup":
			b.WriteString(superscript(k, b.String()))
		case k.tag == "math":
			b.WriteString(formula(k))
		case block[k.tag]:
			b.WriteByte(' ')
			writeInline(b, k)
			b.WriteByte(' ')
		default:
			writeInline(b, k)
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

// superscript returns what stands for a superscript after the text before it: 10⁶ becomes 10^6, never 106.
// The mark of a footnote, which is a link within the page, is nothing.
func superscript(n *node, before string) string {
	if n.hasClass("reference") || n.find(func(k *node) bool {
		return k.tag == "a" && strings.HasPrefix(k.attr["href"], "#")
	}) != nil {
		return ""
	}
	text := inlineText(n)
	if text == "" {
		return ""
	}
	if c := text[0]; c >= '0' && c <= '9' || c == '-' || strings.HasPrefix(text, "−") {
		if before != "" && before[len(before)-1] > ' ' {
			return "^" + text
		}
	}
	return text
}

// formula returns the TeX of a formula when the page carries it, else what writeMath makes of it.
func formula(n *node) string {
	tex := n.find(func(k *node) bool { return k.tag == "annotation" && strings.Contains(k.attr["encoding"], "tex") })
	if tex == nil {
		var b strings.Builder
		writeMath(&b, n)
		return clean(b.String())
	}
	return "$" + strings.TrimSpace(inlineText(tex)) + "$"
}
