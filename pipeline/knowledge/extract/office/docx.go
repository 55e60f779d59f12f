package office

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"nightdesk/pipeline/knowledge/extract/charset"
	"nightdesk/pipeline/knowledge/extract/document"
	"nightdesk/pipeline/knowledge/extract/xmltree"
)

// DOCX extracts a Word document. It recognizes headings by outline level and lists by numbering. Tracked deletions are
// omitted, tracked insertions are included, and notes follow their paragraph. The error wraps ErrDamaged, ErrEncrypted,
// ErrTooLarge or charset.ErrBinary.
func DOCX(data []byte) (document.Document, error) {
	f, err := openOffice(data, "docx")
	if err != nil {
		return document.Document{}, err
	}
	main := "word/document.xml"
	if _, kinds := f.related(""); f.parts[kinds["officeDocument"]] != nil {
		main = kinds["officeDocument"]
	}
	if f.parts[main] == nil {
		return document.Document{}, fmt.Errorf("%w: a zip file without a document of Word", charset.ErrBinary)
	}
	folder := path.Dir(main)
	w := &docxWriter{b: document.NewBuilder(), notes: map[string][]string{}}
	styles, err := f.styles(path.Join(folder, "styles.xml"))
	lists, listErr := f.numbering(path.Join(folder, "numbering.xml"))
	w.styles, w.lists = styles, lists
	err = cmp.Or(err, listErr)
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
	if err := f.each(main, "p tbl sdt del moveFrom", w.block); err != nil {
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
	b      *document.Builder
	styles docxStyles
	lists  *docxLists
	notes  map[string][]string // by kind and id
	title  string
	code   []string // lines of the current code block
}

// block writes a block of the body.
func (w *docxWriter) block(e *xmltree.Element) {
	switch e.Name {
	case "p":
		w.paragraph(w.read(e))
	case "tbl":
		w.table(e)
	case "sdt":
		if e.Child("sdtPr").Find("docPartGallery").Attr["val"] == "Table of Contents" {
			return
		}
		w.blocks(e, w.block)
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

func (w *docxWriter) read(e *xmltree.Element) docxParagraph {
	p := docxParagraph{outline: -1, level: -1}
	var text strings.Builder
	w.inline(&p, &text, e)
	p.text = text.String()
	return p
}

// inline reads the content of a paragraph or run.
func (w *docxWriter) inline(p *docxParagraph, text *strings.Builder, parent *xmltree.Element) {
	for _, e := range parent.Kids {
		switch e.Name {
		case "t":
			text.WriteString(e.Text)
		case "tab", "ptab":
			text.WriteByte('\t')
		case "br", "cr":
			text.WriteByte('\n')
		case "noBreakHyphen":
			text.WriteByte('-')
		case "pPr":
			p.style, p.list = e.Val("pStyle"), e.Val("numId")
			p.outline, p.level = e.Number("outlineLvl", -1), e.Number("ilvl", -1)
		case "rPr":
			if hidden := e.Find("vanish"); hidden.Name != "" && hidden.Attr["val"] != "0" && hidden.Attr["val"] != "false" {
				return // the rest of the run
			}
		case "footnoteReference", "endnoteReference":
			p.notes = append(p.notes, w.notes[strings.TrimSuffix(e.Name, "Reference")+e.Attr["id"]]...)
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
		w.b.Paragraph(t)
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
		w.b.Heading(min(outline+1, 6), number+" "+p.text, "")
	case style.name == "title" && w.title == "":
		w.title = document.Clean(p.text)
		w.b.Heading(1, p.text, "")
	case number == "-":
		w.b.Item("-", p.text)
	case number != "":
		if digits := strings.TrimRight(number, ".)"); digits != "" && strings.Trim(digits, "0123456789") == "" {
			w.b.Item(digits+".", p.text)
		} else { // keep "a)" and "1.2." as printed
			w.b.Item("-", number+" "+p.text)
		}
	default:
		w.b.Paragraph(p.text)
	}
}

func (w *docxWriter) flushCode() {
	if len(w.code) > 0 {
		w.b.Code(strings.Join(w.code, "\n"))
		w.code = nil
	}
}

// table writes the rows of a table. A table with one column is a frame around text.
func (w *docxWriter) table(e *xmltree.Element) {
	w.flushCode()
	rows := w.rows(e)
	columns := 0
	for _, r := range rows {
		columns = max(columns, len(r))
	}
	for _, r := range rows {
		if columns > 1 {
			w.b.Row(r)
			continue
		}
		for _, text := range r {
			w.b.Paragraph(text)
		}
	}
	w.b.EndTable()
}

// rows returns the texts of the cells of a table, except in deleted rows. Vertically merged cells repeat the text
// above, because a passage may hold one row.
func (w *docxWriter) rows(table *xmltree.Element) (rows [][]string) {
	var above []string
	table.Visit(func(e *xmltree.Element) bool {
		if e.Name == "tr" && e.Child("trPr").Find("del").Name == "" {
			var row []string
			e.Visit(func(cell *xmltree.Element) bool {
				if cell.Name == "tc" {
					text := document.Clean(strings.Join(w.texts(cell), "\n"))
					merge := cell.Child("tcPr").Find("vMerge")
					if text == "" && merge.Name != "" && merge.Attr["val"] != "restart" && len(row) < len(above) {
						text = above[len(row)]
					}
					row = append(row, text)
				}
				return tableParts[cell.Name]
			})
			rows, above = append(rows, row), row
		}
		return tableParts[e.Name]
	})
	return rows
}

// tableParts are the containers of rows and cells.
var tableParts = document.Set("sdt sdtContent customXml ins")
