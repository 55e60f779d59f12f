package extract

import (
	"cmp"
	"fmt"
	"path"
	"strings"
)

// DOCX extracts a Word document. It recognizes headings by outline level and lists by numbering. Tracked deletions are
// omitted, tracked insertions are included, and notes follow their paragraph. The error wraps ErrDamaged, ErrEncrypted,
// ErrTooLarge or ErrBinary.
func DOCX(data []byte) (Document, error) {
	f, err := openOffice(data, "docx")
	if err != nil {
		return Document{}, err
	}
	main := "word/document.xml"
	if _, kinds := f.related(""); f.parts[kinds["officeDocument"]] != nil {
		main = kinds["officeDocument"]
	}
	if f.parts[main] == nil {
		return Document{}, fmt.Errorf("%w: a zip file without a document of Word", ErrBinary)
	}
	folder := path.Dir(main)
	w := &docxWriter{b: newBuilder(), notes: map[string][]string{}}
	styles, err := f.styles(path.Join(folder, "styles.xml"))
	lists, listErr := f.numbering(path.Join(folder, "numbering.xml"))
	w.styles, w.lists = styles, lists
	err = cmp.Or(err, listErr)
	for _, kind := range []string{"footnote", "endnote"} {
		err = cmp.Or(err, f.each(path.Join(folder, kind+"s.xml"), kind, func(note *element) {
			switch note.attr["type"] {
			case "separator", "continuationSeparator", "continuationNotice":
			default:
				w.notes[kind+note.attr["id"]] = w.texts(note)
			}
		}))
	}
	if err != nil {
		return Document{}, err
	}
	if err := f.each(main, "p tbl sdt del moveFrom", w.block); err != nil {
		return Document{}, err
	}
	w.flushCode()
	said := f.properties()
	said.or(stated{title: w.title})
	doc := w.b.document(said)
	if doc.Text == "" && len(doc.Sections) > 1 {
		return Document{}, ErrEmpty
	}
	return doc, nil
}

// docxWriter converts the text of a document.
type docxWriter struct {
	b      *builder
	styles docxStyles
	lists  *docxLists
	notes  map[string][]string // by kind and id
	title  string
	code   []string // lines of the current code block
}

// block writes a block of the body.
func (w *docxWriter) block(e *element) {
	switch e.name {
	case "p":
		w.paragraph(w.read(e))
	case "tbl":
		w.table(e)
	case "sdt":
		if e.find("docPartGallery").attr["val"] == "Table of Contents" {
			return
		}
		w.blocks(e, w.block)
	default: // deleted or moved away
	}
}

// blocks calls use for the paragraphs, tables and content controls in an element.
func (w *docxWriter) blocks(parent *element, use func(*element)) {
	for _, e := range parent.kids {
		switch e.name {
		case "p", "tbl", "sdt":
			use(e)
		case "sdtContent", "ins", "moveTo", "smartTag", "customXml", "AlternateContent", "Choice", "txbxContent":
			w.blocks(e, use)
		}
	}
}

// texts returns the texts of the paragraphs in an element, and of the rows of its tables.
func (w *docxWriter) texts(parent *element) (texts []string) {
	w.blocks(parent, func(e *element) {
		switch e.name {
		case "p":
			if p := w.read(e); !w.styles.whole(p.style).contents() {
				texts = append(append(append(texts, p.text), p.notes...), p.boxes...)
			}
		case "tbl":
			for _, row := range w.rows(e) {
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

func (w *docxWriter) read(e *element) docxParagraph {
	p := docxParagraph{outline: -1, level: -1}
	var text strings.Builder
	w.inline(&p, &text, e)
	p.text = text.String()
	return p
}

// inline reads the content of a paragraph or run.
func (w *docxWriter) inline(p *docxParagraph, text *strings.Builder, parent *element) {
	for _, e := range parent.kids {
		switch e.name {
		case "t":
			text.WriteString(e.text)
		case "tab", "ptab":
			text.WriteByte('\t')
		case "br", "cr":
			text.WriteByte('\n')
		case "noBreakHyphen":
			text.WriteByte('-')
		case "pPr":
			p.style, p.list = e.val("pStyle"), e.val("numId")
			p.outline, p.level = e.number("outlineLvl", -1), e.number("ilvl", -1)
		case "rPr":
			if hidden := e.find("vanish"); hidden.name != "" && hidden.attr["val"] != "0" && hidden.attr["val"] != "false" {
				return // the rest of the run
			}
		case "footnoteReference", "endnoteReference":
			p.notes = append(p.notes, w.notes[strings.TrimSuffix(e.name, "Reference")+e.attr["id"]]...)
		case "txbxContent":
			p.boxes = append(p.boxes, w.texts(e)...)
		case "del", "moveFrom", "delText", "instrText", "delInstrText", "rt", "sdtPr", "fldChar", "commentReference",
			"annotation":
		default: // runs, links, insertions, fields, drawings, mathematics
			w.inline(p, text, e)
		}
	}
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
		w.b.paragraph(t)
	}
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
		w.b.heading(min(outline+1, 6), number+" "+p.text, "")
	case style.name == "title" && w.title == "":
		w.title = clean(p.text)
		w.b.heading(1, p.text, "")
	case number == "-":
		w.b.item("-", p.text)
	case number != "":
		if digits := strings.TrimRight(number, ".)"); digits != "" && strings.Trim(digits, "0123456789") == "" {
			w.b.item(digits+".", p.text)
		} else { // keep "a)" and "1.2." as printed
			w.b.item("-", number+" "+p.text)
		}
	default:
		w.b.paragraph(p.text)
	}
}

func (w *docxWriter) flushCode() {
	if len(w.code) > 0 {
		w.b.code(strings.Join(w.code, "\n"))
		w.code = nil
	}
}

// table writes the rows of a table. A table with one column is a frame around text.
func (w *docxWriter) table(e *element) {
	w.flushCode()
	rows := w.rows(e)
	columns := 0
	for _, r := range rows {
		columns = max(columns, len(r))
	}
	for _, r := range rows {
		if columns > 1 {
			w.b.row(r)
			continue
		}
		for _, text := range r {
			w.b.paragraph(text)
		}
	}
	w.b.endTable()
}

// rows returns the texts of the cells of a table, except in deleted rows. Vertically merged cells repeat the text above,
// because a passage may hold one row.
func (w *docxWriter) rows(table *element) (rows [][]string) {
	var above []string
	table.visit(func(e *element) bool {
		if e.name == "tr" && e.find("trPr").find("del").name == "" {
			var row []string
			e.visit(func(cell *element) bool {
				if cell.name == "tc" {
					text := clean(strings.Join(w.texts(cell), "\n"))
					merge := cell.find("tcPr").find("vMerge")
					if text == "" && merge.name != "" && merge.attr["val"] != "restart" && len(row) < len(above) {
						text = above[len(row)]
					}
					row = append(row, text)
				}
				return tableParts[cell.name]
			})
			rows, above = append(rows, row), row
		}
		return tableParts[e.name]
	})
	return rows
}

// tableParts are the containers of rows and cells.
var tableParts = set("sdt sdtContent customXml ins")
