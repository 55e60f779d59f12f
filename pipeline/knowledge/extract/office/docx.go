package office

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"

	"nightdesk/pipeline/knowledge/extract/charset"
	"nightdesk/pipeline/knowledge/extract/document"
	"nightdesk/pipeline/knowledge/extract/xmltree"
)

// DOCX extracts a Word document. It recognizes headings by outline level and lists by numbering. Tracked deletions are
// omitted, tracked insertions are included, and notes, charts and diagrams follow their paragraph. inner reads the
// documents in it. The error wraps ErrDamaged, ErrEncrypted,
// ErrTooLarge or charset.ErrBinary.
func DOCX(data []byte, inner Inner) (document.Document, error) {
	f, err := openOffice(data, "docx")
	if err != nil {
		return document.Document{}, err
	}
	main := f.main("word/document.xml")
	if f.parts[main] == nil {
		return document.Document{}, fmt.Errorf("%w: a zip file without a document of Word", charset.ErrBinary)
	}
	folder := path.Dir(main)
	w := &docxWriter{archive: f, b: document.NewBuilder(), notes: map[string][]string{}}
	w.targets, _ = f.related(main)
	f.inner = inner
	err = f.each(main, "background anchor", func(e *xmltree.Element) {
		w.ground = w.ground || e.Name == "background" || isOn(e.Attr["behindDoc"])
	})
	styles, styleErr := f.styles(path.Join(folder, "styles.xml"))
	lists, listErr := f.numbering(path.Join(folder, "numbering.xml"))
	w.styles, w.lists = styles, lists
	err = cmp.Or(err, styleErr, listErr)
	for _, kind := range []string{"footnote", "endnote"} {
		err = cmp.Or(err, f.each(path.Join(folder, kind+"s.xml"), kind, func(note *xmltree.Element) {
			switch note.Attr["type"] {
			case "separator", "continuationSeparator", "continuationNotice":
			default:
				w.notes[kind+note.Attr["id"]] = w.texts(note)
			}
		}))
	}
	if err != nil {
		return document.Document{}, err
	}
	if err := f.each(main, "p tbl sdt altChunk del moveFrom", w.block); err != nil {
		return document.Document{}, err
	}
	w.flushCode()
	said := f.properties()
	said.Or(document.Metadata{Title: w.title})
	doc := w.b.Document(said)
	if doc.Text == "" && len(doc.Sections) > 1 {
		return document.Document{}, document.ErrEmpty
	}
	return doc, nil
}

// docxWriter converts the text of a document.
type docxWriter struct {
	*archive
	b       *document.Builder
	styles  docxStyles
	lists   *docxLists
	notes   map[string][]string // by kind and id
	title   string
	code    []string           // lines of the current code block
	targets map[string]string  // relationships by id
	drawn   []*xmltree.Element // charts and diagrams of the current paragraph or table
	ground  bool               // text stands on a ground that may be dark, in a cell or a box
}

// block writes a block of the body.
func (w *docxWriter) block(e *xmltree.Element) {
	switch e.Name {
	case "p":
		w.paragraph(w.line(e))
	case "tbl":
		w.table(e)
	case "sdt":
		if e.Child("sdtPr").Find("docPartGallery").Attr["val"] == "Table of Contents" {
			return
		}
		w.blocks(e, w.block)
	case "altChunk":
		w.flushCode()
		w.chunk(w.b, w.targets[e.Attr["id"]], 1)
	default: // deleted or moved away
	}
}

// blocks calls use for the paragraphs, tables and content controls in an element.
func (w *docxWriter) blocks(parent *xmltree.Element, use func(*xmltree.Element)) {
	for _, e := range parent.Kids {
		switch e.Name {
		case "p", "tbl", "sdt":
			use(e)
		case "sdtContent", "ins", "moveTo", "smartTag", "customXml", "AlternateContent", "Choice", "txbxContent":
			w.blocks(e, use)
		}
	}
}

// texts returns the texts of the paragraphs in an element, and of the rows of its tables.
func (w *docxWriter) texts(parent *xmltree.Element) (texts []string) {
	w.blocks(parent, func(e *xmltree.Element) {
		switch e.Name {
		case "p":
			if p := w.line(e); !w.styles.whole(p.style).contents() {
				texts = append(append(append(texts, p.text), p.notes...), p.boxes...)
			}
		case "tbl":
			for _, row := range w.grid(e).Rows() {
				texts = append(texts, strings.Join(row, " "))
			}
		case "sdt":
			texts = append(texts, w.texts(e)...)
		}
	})
	return texts
}

// docxParagraph is the content of a paragraph.
type docxParagraph struct {
	text    string
	style   string
	outline int // -1 to use the style's
	list    string
	level   int      // -1 to use the style's
	notes   []string // texts of its footnotes and endnotes
	boxes   []string // texts of text boxes anchored in it
}

func (w *docxWriter) line(e *xmltree.Element) docxParagraph {
	p := docxParagraph{outline: -1, level: -1}
	var text line
	properties := e.Child("pPr")
	p.style, p.list = properties.Val("pStyle"), properties.Val("numId")
	p.outline, p.level = properties.Number("outlineLvl", -1), properties.Number("ilvl", -1)
	k := w.styles.look(look{ground: w.ground || properties.Child("shd").Name != ""}, p.style)
	w.inline(&p, &text, e, k)
	p.text = text.String()
	return p
}

// inline reads the content of a paragraph or run.
func (w *docxWriter) inline(p *docxParagraph, text *line, parent *xmltree.Element, k look) {
	for _, e := range parent.Kids {
		switch e.Name {
		case "t":
			text.write(e.Text, k)
		case "tab", "ptab":
			text.write("\t", k)
		case "br", "cr":
			text.write("\n", k)
		case "noBreakHyphen":
			text.write("-", k)
		case "sym":
			code, _ := strconv.ParseUint(e.Attr["char"], 16, 16)
			sign := k
			sign.font = e.Attr["font"]
			text.write(string(rune(code)), sign)
		case "r":
			properties := e.Child("rPr")
			w.inline(p, text, e, w.styles.look(k, properties.Child("rStyle").Attr["val"]).with(properties))
		case "oMath":
			text.write(formula(e), k)
		case "footnoteReference", "endnoteReference":
			p.notes = append(p.notes, w.notes[strings.TrimSuffix(e.Name, "Reference")+e.Attr["id"]]...)
		case "graphicData", "object":
			w.drawn = append(w.drawn, e)
			w.inline(p, text, e, k)
		case "txbxContent":
			w.onGround(func() { p.boxes = append(p.boxes, w.texts(e)...) })
		case "del", "moveFrom", "delText", "instrText", "delInstrText", "rt", "sdtPr", "fldChar", "commentReference",
			"annotation", "pPr", "rPr":
		default: // links, insertions, fields, drawings
			w.inline(p, text, e, k)
		}
	}
}

// onGround calls use for the text of a cell or box.
func (w *docxWriter) onGround(use func()) {
	defer func(was bool) { w.ground = was }(w.ground)
	w.ground = true
	use()
}

// paragraph writes a paragraph according to its style and list.
func (w *docxWriter) paragraph(p docxParagraph) {
	style := w.styles.whole(p.style)
	switch {
	case style.contents():
		return
	case style.code() && (strings.TrimSpace(p.text) != "" || len(w.code) > 0):
		w.code = append(w.code, strings.Split(p.text, "\n")...)
		return
	}
	w.flushCode()
	if list := cmp.Or(p.list, style.list); list == "" {
		w.listed(p, style, "")
	} else if strings.TrimSpace(p.text) != "" {
		level := p.level
		if level < 0 {
			level = max(style.level, 0)
		}
		w.listed(p, style, w.lists.next(list, level))
	}
	for _, t := range append(p.notes, p.boxes...) {
		w.b.Paragraph(t)
	}
	w.flushDrawings()
}

// listed writes a paragraph with its list number. number is empty outside a list.
func (w *docxWriter) listed(p docxParagraph, style docxStyle, number string) {
	outline := style.outline
	if p.outline >= 0 {
		outline = p.outline
	}
	switch {
	case outline >= 0 && outline < 9:
		if number == "-" {
			number = ""
		}
		w.b.Heading(min(outline+1, 6), number+" "+p.text, "")
	case style.name == "title" && w.title == "":
		w.title = document.Clean(p.text)
		w.b.Heading(1, p.text, "")
	case number != "":
		writeItem(w.b, number, p.text)
	default:
		w.b.Paragraph(p.text)
	}
}

// writeItem writes a list item with its printed number or bullet.
func writeItem(b *document.Builder, number, text string) {
	digits := strings.TrimRight(number, ".)")
	switch {
	case digits != "" && strings.Trim(digits, "0123456789") == "":
		b.Item(digits+".", text)
	case strings.ContainsFunc(number, unicode.IsLetter) || strings.ContainsAny(number, "0123456789"):
		b.Item("-", number+" "+text) // keep "a)" and "1.2." as printed
	default:
		b.Item("-", text)
	}
}

func (w *docxWriter) flushCode() {
	if len(w.code) > 0 {
		w.b.Code(strings.Join(w.code, "\n"))
		w.code = nil
	}
}

func (w *docxWriter) table(e *xmltree.Element) {
	w.flushCode()
	w.grid(e).Write(w.b)
	w.flushDrawings()
}

// flushDrawings writes the charts and diagrams of the paragraph or table before.
func (w *docxWriter) flushDrawings() {
	for _, e := range w.drawn {
		w.drawings(w.b, w.targets, e)
	}
	w.drawn = nil
}

// grid returns the cells of a table, except in deleted rows.
func (w *docxWriter) grid(table *xmltree.Element) *document.Table {
	t := &document.Table{}
	rows, headers := 0, 0
	table.Visit(func(e *xmltree.Element) bool {
		if e.Name == "tr" && e.Child("trPr").Find("del").Name == "" {
			t.Row()
			if rows++; rows == headers+1 && e.Child("trPr").Child("tblHeader").Name != "" {
				headers++
				t.Headers(headers)
			}
			before := e.Child("trPr").Number("gridBefore", 0)
			for range before {
				t.Cell("", 1, 1)
			}
			e.Visit(func(cell *xmltree.Element) bool {
				if cell.Name == "tc" {
					w.cell(t, cell)
				}
				return tableParts[cell.Name]
			})
		}
		return tableParts[e.Name]
	})
	return t
}

func (w *docxWriter) cell(t *document.Table, cell *xmltree.Element) {
	var text string
	w.onGround(func() { text = document.Clean(strings.Join(w.texts(cell), "\n")) })
	properties := cell.Child("tcPr")
	columns := properties.Number("gridSpan", 1)
	merge := properties.Find("vMerge")
	if text == "" && merge.Name != "" && merge.Attr["val"] != "restart" {
		t.Above(columns)
		return
	}
	t.Cell(text, columns, 1)
}

// tableParts are the containers of rows and cells.
var tableParts = document.Set("sdt sdtContent customXml ins")
