package office

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"

	"nightdesk/pipeline/knowledge/extract/charset"
	"nightdesk/pipeline/knowledge/extract/document"
	"nightdesk/pipeline/knowledge/extract/webpage"
	"nightdesk/pipeline/knowledge/extract/xmltree"
)

// ODT extracts a text document of OpenDocument. Tracked deletions are omitted, and notes, formulas and charts stand
// where they are or after their paragraph. The error wraps ErrDamaged, ErrEncrypted, ErrTooLarge or charset.ErrBinary.
func ODT(data []byte) (document.Document, error) {
	f, err := openArchive(data)
	if err != nil {
		return document.Document{}, err
	}
	const main = "content.xml"
	if f.parts[main] == nil {
		return document.Document{}, fmt.Errorf("%w: a zip file without a text", charset.ErrBinary)
	}
	locked := false
	_ = f.each("META-INF/manifest.xml", "encryption-data", func(*xmltree.Element) { locked = true })
	if locked {
		return document.Document{}, document.ErrEncrypted
	}
	w := &odtWriter{archive: f, b: document.NewBuilder(), styles: map[string]*xmltree.Element{}}
	err = cmp.Or(f.each("styles.xml", "style list-style", w.block), f.each(main, odtBlocks, w.block))
	if err != nil {
		return document.Document{}, err
	}
	said := document.Metadata{OfFile: true}
	changed := ""
	_ = f.each("meta.xml", "title initial-creator creator creation-date date", func(e *xmltree.Element) {
		switch e.Name {
		case "creation-date":
			said.Date = document.ParseDate(e.Text)
		case "date":
			changed = document.ParseDate(e.Text)
		case "initial-creator":
			said.Authors = nil
			said.AddAuthor(e.Text)
		case "creator":
			if len(said.Authors) == 0 {
				said.AddAuthor(e.Text)
			}
		default:
			said.Title = document.FileTitle(e.Text)
		}
	})
	said.Date = cmp.Or(changed, said.Date)
	said.Or(document.Metadata{Title: w.title})
	return w.b.Document(said), nil
}

// odtBlocks are the styles of a text, which come first, and its blocks. Tables of contents and deleted text are blocks
// so that they can be left out.
const odtBlocks = `style list-style h p list table section frame table-of-content illustration-index table-index
	user-index alphabetical-index object-index tracked-changes forms`

// odtWriter converts the text of a document.
type odtWriter struct {
	*archive
	b      *document.Builder
	styles map[string]*xmltree.Element // by family and name
	title  string
	after  []string           // notes and boxes of the current block
	charts []*xmltree.Element // tables of the charts of the current block
	cells  int
	copied int // bytes of repeated cells
	ground bool
}

// block writes a block of the body, or keeps a style.
func (w *odtWriter) block(e *xmltree.Element) {
	switch e.Name {
	case "style", "list-style":
		w.styles[e.Attr["family"]+" "+e.Attr["name"]] = e
	case "h":
		w.b.Heading(min(max(xmltree.Number(e.Attr["outline-level"], 1), 1), 6), w.text(e), "")
	case "p":
		text := w.text(e)
		if w.title == "" && w.named(e.Attr["style-name"], "title") {
			w.title = document.Clean(text)
			w.b.Heading(1, text, "")
		} else {
			w.b.Paragraph(text)
		}
	case "list":
		w.list(e, "", 1)
	case "table":
		w.grid(e).Write(w.b)
	case "frame":
		w.frame(e, &line{})
	case "section":
		if e.Attr["display"] != "none" {
			w.blocks(e)
		}
	}
	after, charts := w.after, w.charts
	w.after, w.charts = nil, nil
	for _, text := range after {
		w.b.Paragraph(text)
	}
	for _, chart := range charts {
		w.grid(chart).Write(w.b)
	}
}

func (w *odtWriter) blocks(parent *xmltree.Element) {
	for _, e := range parent.Kids {
		w.block(e)
	}
}

// named reports whether a paragraph style or one that it is based on has a name, in lower case.
func (w *odtWriter) named(style, name string) bool {
	for range 20 {
		if strings.EqualFold(style, name) {
			return true
		}
		s := w.styles["paragraph "+style]
		if s == nil {
			return false
		}
		style = s.Attr["parent-style-name"]
	}
	return false
}

// list writes a list. style is that of the list around it.
func (w *odtWriter) list(list *xmltree.Element, style string, level int) {
	style = cmp.Or(list.Attr["style-name"], style)
	number := 0
	for _, item := range list.Kids {
		marker := "-"
		if item.Name == "list-item" && w.numbered(style, level) {
			number = xmltree.Number(item.Attr["start-value"], number+1)
			marker = strconv.Itoa(number) + "."
		}
		for _, e := range item.Kids {
			switch {
			case e.Name == "list" && level < 20:
				w.list(e, style, level+1)
			case e.Name == "p" && marker != "":
				w.b.Item(marker, w.text(e))
				marker = ""
			default:
				w.block(e)
			}
		}
	}
}

// numbered reports whether a level of a list style has numbers.
func (w *odtWriter) numbered(style string, level int) bool {
	s := w.styles[" "+style]
	if s == nil {
		return false
	}
	for _, l := range s.All("list-level-style-number") {
		if l.Attr["level"] == strconv.Itoa(level) {
			return l.Attr["num-format"] != ""
		}
	}
	return false
}

// text returns the text of a paragraph or heading.
func (w *odtWriter) text(e *xmltree.Element) string {
	var text line
	w.inline(&text, e, w.look(look{ground: w.ground}, "paragraph", e.Attr["style-name"], 20))
	return text.String()
}

// inline reads the content of a paragraph.
func (w *odtWriter) inline(text *line, parent *xmltree.Element, k look) {
	for _, e := range parent.Kids {
		switch e.Name {
		case "":
			text.write(e.Text, k)
		case "s", "tab":
			text.write(" ", k)
		case "line-break":
			text.write("\n", k)
		case "span":
			own := w.look(k, "text", e.Attr["style-name"], 20)
			text.write(e.Text, own)
			w.inline(text, e, own)
		case "note":
			if !k.unseen() {
				w.after = append(w.after, w.texts(e.Child("note-body"))...)
			}
		case "frame":
			w.frame(e, text)
		case "ruby-text", "annotation", "hidden-text", "deletion":
		default: // links, fields, bookmarks
			text.write(e.Text, k)
			w.inline(text, e, k)
		}
	}
	if len(parent.Kids) == 0 && (parent.Name == "p" || parent.Name == "h") {
		text.write(parent.Text, k)
	}
}

// frame reads a text box, or a formula or chart that is an object.
func (w *odtWriter) frame(e *xmltree.Element, text *line) {
	for _, k := range e.Kids {
		switch k.Name {
		case "text-box":
			was := w.ground
			w.ground = true
			w.after = append(w.after, w.texts(k)...)
			w.ground = was
		case "object":
			part := path.Join(path.Clean(k.Attr["href"]), "content.xml")
			isFormula := false
			_ = w.each(part, "math title table", func(e *xmltree.Element) {
				switch e.Name {
				case "math":
					isFormula = true
				case "table":
					w.charts = append(w.charts, e)
				default:
					w.after = append(w.after, w.texts(e)...)
				}
			})
			if isFormula {
				data, _ := w.read(part) // it has just been read
				text.write(webpage.Formula(string(data)), look{})
			}
		}
	}
}

// texts returns the texts of the blocks in an element.
func (w *odtWriter) texts(parent *xmltree.Element) (texts []string) {
	for _, e := range parent.Kids {
		switch e.Name {
		case "p", "h":
			texts = append(texts, w.text(e))
		case "table":
			for _, row := range w.grid(e).Rows() {
				texts = append(texts, strings.Join(row, " "))
			}
		case "list", "list-item", "list-header", "section":
			texts = append(texts, w.texts(e)...)
		}
	}
	return texts
}

// look returns how text with a style looks that otherwise looks like k.
func (w *odtWriter) look(k look, family, name string, depth int) look {
	style := w.styles[family+" "+name]
	if style == nil || depth == 0 {
		return k
	}
	k = w.look(k, family, style.Attr["parent-style-name"], depth-1)
	ground := style.Child("paragraph-properties").Attr["background-color"]
	p := style.Child("text-properties").Attr
	for _, color := range []string{ground, p["background-color"]} {
		k.ground = k.ground || color != "" && color != "transparent"
	}
	if position := p["text-position"]; position != "" {
		percent, _, _ := strings.Cut(position, "%")
		k.raised = strings.HasPrefix(position, "super") || xmltree.Number(strings.TrimSpace(percent), 0) > 0
	}
	for _, name := range []string{"text-line-through-style", "text-line-through-type"} {
		if p[name] != "" {
			k.struck = p[name] != "none"
		}
	}
	if p["display"] != "" {
		k.hidden = p["display"] == "none"
	}
	if size, err := strconv.ParseFloat(strings.TrimSuffix(p["font-size"], "pt"), 64); err == nil {
		k.tiny = size <= 1
	}
	if p["color"] != "" {
		k.white = strings.EqualFold(p["color"], "#ffffff")
	}
	k.font = cmp.Or(strings.Trim(p["font-family"], "'"), p["font-name"], k.font)
	return k
}

// grid returns the cells of a table.
func (w *odtWriter) grid(table *xmltree.Element) *document.Table {
	t := &document.Table{}
	was := w.ground
	w.ground = true
	w.rows(t, table)
	w.ground = was
	return t
}

func (w *odtWriter) rows(t *document.Table, parent *xmltree.Element) {
	for _, e := range parent.Kids {
		switch {
		case e.Name == "table-header-rows":
			w.rows(t, e)
			t.Headers(len(e.All("table-row")))
		case e.Name == "table-rows" || e.Name == "table-row-group":
			w.rows(t, e)
		case e.Name == "table-row" && !gone(e):
			w.row(t, e, min(xmltree.Number(e.Attr["number-rows-repeated"], 1), 1000))
		}
	}
}

// gone reports whether a row or column is not shown.
func gone(e *xmltree.Element) bool {
	v := e.Attr["visibility"]
	return v == "collapse" || v == "filter"
}

// maxCopied is the maximum number of bytes that repeated cells add to a document.
const maxCopied = 1 << 20

// odtCell is a cell of a row.
type odtCell struct {
	text                    string
	repeated, columns, rows int
}

// row adds the cells of a row, which is repeated if it has text. The empty rest of a sheet is one row.
func (w *odtWriter) row(t *document.Table, row *xmltree.Element, times int) {
	var cells []odtCell
	full := false
	for _, cell := range row.Kids {
		if cell.Name != "table-cell" { // those that another covers
			continue
		}
		cells = append(cells, odtCell{document.Clean(strings.Join(w.texts(cell), "\n")),
			min(max(xmltree.Number(cell.Attr["number-columns-repeated"], 1), 1), maxColumns),
			xmltree.Number(cell.Attr["number-columns-spanned"], 1), xmltree.Number(cell.Attr["number-rows-spanned"], 1)})
		full = full || cells[len(cells)-1].text != ""
	}
	for i := range times {
		if i > 0 && !full {
			return
		}
		t.Row()
		for _, c := range cells {
			if w.cells += c.repeated; w.cells > maxCells {
				return
			}
			for k := range c.repeated {
				if i+k > 0 {
					w.copied += len(c.text)
				}
				if w.copied > maxCopied {
					c.text = ""
				}
				t.Cell(c.text, c.columns, c.rows)
			}
		}
	}
}
