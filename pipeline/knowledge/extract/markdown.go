package extract

import (
	"bytes"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"

	md "nightdesk/pipeline/markdown"

	"nightdesk/pipeline/knowledge/extract/charset"
	"nightdesk/pipeline/knowledge/extract/document"
	"nightdesk/pipeline/knowledge/extract/webpage"
)

// Markdown extracts CommonMark with GitHub's tables and alerts, front matter, footnotes, definition lists and heading
// ids. Embedded HTML follows the rules of HTML. The anchor of a heading is its {#id}, else the one that GitHub and Hugo
// derive from its text.
func Markdown(text string) Document {
	text = strings.ToValidUTF8(charset.Lines(text), "\ufffd")
	front, rest := document.FrontMatter(text)
	rest = linkShortcode.ReplaceAllString(rest, "]()")
	m := &markdown{b: document.NewBuilder(), slugs: map[string]int{}, source: []byte(rest)}
	m.blocks(dialect.Parse(m.source))
	front.Or(document.HeadLines(rest))
	return m.b.Document(front)
}

type markdown struct {
	b      *document.Builder
	source []byte
	slugs  map[string]int // number of uses of each anchor
	marker string         // marker of the list item whose first text follows
}

// blocks writes the blocks of a container: the document, a quote or a list item.
func (m *markdown) blocks(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Paragraph, *ast.TextBlock:
			m.text(m.inline(n))
			continue
		case *ast.List:
			m.list(n)
			continue
		}
		m.marker = ""
		switch n := n.(type) {
		case *ast.Heading:
			m.heading(n.Level, m.inline(n))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			m.b.Code(md.Lines(n, m.source))
		case *ast.HTMLBlock:
			webpage.Fragment(m.b, md.Lines(n, m.source))
		case *ast.Blockquote:
			m.alert(n)
			m.blocks(n)
		case *extensionast.Table:
			m.table(n)
		case *extensionast.DefinitionTerm:
			m.b.Term(m.inline(n), "")
		default: // a definition list and its descriptions
			m.blocks(n)
		}
	}
}

// text writes a paragraph or the first line of a list item.
func (m *markdown) text(text string) {
	switch text = document.Clean(text); {
	case text == "":
	case m.marker != "":
		m.b.Item(m.marker, text)
		m.marker = ""
	default:
		m.b.Paragraph(text)
	}
}

// number returns the marker of a numbered item as written, because the number may identify the item.
func (m *markdown) number(item ast.Node, start int) string {
	const maxMarker = 12 // bytes
	line := string(m.source[item.Pos():min(len(m.source), item.Pos()+maxMarker)])
	if marker, _ := listMarker(line); marker != "" {
		return marker
	}
	return strconv.Itoa(start) + "."
}

// list writes the items of a list. A list with only links within the page is a table of contents and is omitted.
func (m *markdown) list(list *ast.List) {
	if contents(list) > 1 {
		return
	}
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		m.marker = "-"
		if list.IsOrdered() {
			m.marker = m.number(item, list.Start)
		}
		m.blocks(item)
		m.marker = ""
	}
}

// contents returns the number of links if a list consists only of links within the page, else -1.
func contents(parent ast.Node) (links int) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n.(type) {
		case *ast.List, *ast.ListItem:
			more := contents(n)
			if more < 0 {
				return -1
			}
			links += more
		default:
			link, ok := n.FirstChild().(*ast.Link)
			if !ok || link.Reference != nil || link.NextSibling() != nil || !strings.HasPrefix(string(link.Destination), "#") {
				return -1
			}
			links++
		}
	}
	return links
}

func (m *markdown) heading(level int, text string) {
	text = strings.TrimSpace(text)
	anchor := ""
	if i := strings.LastIndexByte(text, '{'); i >= 0 && strings.HasSuffix(text, "}") {
		for f := range strings.FieldsSeq(text[i+1 : len(text)-1]) {
			if id, ok := strings.CutPrefix(f, "#"); ok {
				anchor = id
			}
		}
		if anchor != "" || strings.HasPrefix(text[i:], "{.") || strings.HasPrefix(text[i:], "{:") {
			text = text[:i]
		}
	}
	text = document.Clean(text)
	if slug := m.slug(text); anchor == "" {
		anchor = slug
	}
	m.b.Heading(level, text, anchor)
}

// slug returns GitHub's anchor for a heading: lower case, hyphens for spaces, no punctuation, numbered if repeated.
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
		slug += "-" + strconv.Itoa(n)
	}
	return slug
}

func (m *markdown) table(table ast.Node) {
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, m.inline(cell))
		}
		m.b.Row(cells)
	}
	m.b.EndTable()
}

// alertName matches the first line of an alert.
var alertName = regexp.MustCompile(`^\s*\[!([A-Za-z]+)\]\s*$`)

// alert writes the name of a GitHub alert ("> [!NOTE]") and removes its line from the quote.
func (m *markdown) alert(quote ast.Node) {
	first, ok := quote.FirstChild().(*ast.Paragraph)
	if !ok {
		return
	}
	line := first.Lines().At(0)
	found := alertName.FindSubmatch(line.Value(m.source))
	if found == nil {
		return
	}
	name := string(found[1])
	m.b.Paragraph(strings.ToUpper(name[:1]) + strings.ToLower(name[1:]))
	for c := first.FirstChild(); c != nil && c.Pos() < line.Stop; c = first.FirstChild() {
		first.RemoveChild(first, c)
	}
}

// inline returns the text of a block without markup, including line breaks. If the block has HTML, it follows the rules
// of HTML.
func (m *markdown) inline(parent ast.Node) string {
	var b strings.Builder
	if p := (phrase{&b, false}); m.words(p, parent) {
		b.Reset()
		m.words(phrase{&b, true}, parent)
		return webpage.Inline(b.String())
	}
	return b.String()
}

// phrase collects the text of a block, as HTML if the block has HTML.
type phrase struct {
	*strings.Builder
	html bool
}

func (p phrase) text(s string) {
	if p.html {
		s = html.EscapeString(s)
	}
	p.WriteString(s)
}

// phraseTag matches the tags of HTML that change the text between them. Others may be names in angle brackets.
var phraseTag = regexp.MustCompile(`(?i)^</?(?:br|sup|sub|s|del|strike|ruby|rt|rp|span|font)\b`)

// words writes the text of a block and reports whether it has HTML.
func (m *markdown) words(b phrase, parent ast.Node) (marked bool) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			b.text(md.Plain(string(n.Segment.Value(m.source))))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.String:
			b.text(string(n.Value))
		case *ast.CodeSpan:
			b.text(md.Code(n, m.source))
		case *ast.AutoLink:
			b.text(string(n.Label(m.source)))
		case *ast.RawHTML:
			if tag := n.Segments.Value(m.source); phraseTag.Match(tag) {
				marked = true
				b.Write(tag)
			}
		case *extensionast.Strikethrough: // one tilde lowers in some dialects: H~2~O
			if !bytes.HasPrefix(m.source[n.Pos():], []byte("~~")) {
				marked = m.words(b, n) || marked
			}
		case *ast.Image: // images have no text
		default:
			marked = m.words(b, n) || marked
		}
	}
	return marked
}
