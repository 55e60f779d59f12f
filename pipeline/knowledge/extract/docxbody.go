package extract

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// docxWriter converts the text of a document.
type docxWriter struct {
	d      *xml.Decoder
	b      *builder
	styles docxStyles
	lists  *docxLists
	notes  map[string][]string
	title  string
	code   []string // lines of the current code block
	cell   bool     // inside a table, where paragraphs are collected instead of written
	cells  []string
}

// docxParagraph is a paragraph that is being read.
type docxParagraph struct {
	text    strings.Builder
	style   string
	outline int // -1 to use the style's
	list    string
	level   int      // -1 to use the style's
	notes   []string // texts of its footnotes and endnotes
	boxes   []string // texts of text boxes anchored in it
}

// blocks reads paragraphs and tables up to the end of the enclosing element.
func (w *docxWriter) blocks(depth int) error {
	if depth > maxDOCXDepth {
		return w.d.Skip()
	}
	for {
		t, err := w.d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch e := t.(type) {
		case xml.EndElement:
			if depth > 0 {
				return nil
			}
		case xml.StartElement:
			switch e.Name.Local {
			case "p":
				p := docxParagraph{outline: -1, level: -1}
				if err = w.inline(&p, depth+1); err == nil {
					w.paragraph(&p)
				}
			case "tbl":
				err = w.table(depth + 1)
			case "sdt":
				err = w.control(depth + 1)
			case "document", "body", "sdtContent", "ins", "moveTo", "smartTag", "customXml", "AlternateContent",
				"Choice", "txbxContent":
				err = w.blocks(depth + 1)
			default: // del, moveFrom, Fallback, sectPr, properties
				err = w.d.Skip()
			}
			if err != nil {
				return err
			}
		}
	}
}

// control reads a content control. It skips tables of contents.
func (w *docxWriter) control(depth int) error {
	contents := false
	for {
		t, err := w.d.Token()
		if err != nil {
			return err
		}
		switch e := t.(type) {
		case xml.EndElement:
			if e.Name.Local == "sdt" {
				return nil
			}
		case xml.StartElement:
			switch e.Name.Local {
			case "docPartGallery":
				contents = attr(e, "val") == "Table of Contents"
			case "sdtContent":
				if contents {
					err = w.d.Skip()
				} else {
					err = w.blocks(depth + 1)
				}
				if err != nil {
					return err
				}
			}
		}
	}
}

// inline reads the content of a paragraph or run up to its end.
func (w *docxWriter) inline(p *docxParagraph, depth int) error {
	if depth > maxDOCXDepth {
		return w.d.Skip()
	}
	for {
		t, err := w.d.Token()
		if err != nil {
			return err
		}
		switch e := t.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			switch e.Name.Local {
			case "t":
				err = w.chars(&p.text)
			case "tab", "ptab":
				p.text.WriteByte('\t')
				err = w.d.Skip()
			case "br", "cr":
				p.text.WriteByte('\n')
				err = w.d.Skip()
			case "noBreakHyphen":
				p.text.WriteByte('-')
				err = w.d.Skip()
			case "pPr":
				err = w.properties(p)
			case "rPr":
				var hidden bool
				if hidden, err = w.hidden(); err == nil && hidden {
					return w.d.Skip() // skip the rest of the run
				}
			case "footnoteReference", "endnoteReference":
				p.notes = append(p.notes, w.notes[strings.TrimSuffix(e.Name.Local, "Reference")+attr(e, "id")]...)
				err = w.d.Skip()
			case "txbxContent":
				var texts []string
				texts, err = w.texts(depth + 1)
				p.boxes = append(p.boxes, texts...)
			case "del", "moveFrom", "delText", "instrText", "delInstrText", "Fallback", "rt", "sdtPr", "fldChar",
				"commentReference", "annotation":
				err = w.d.Skip()
			default: // runs, links, insertions, fields, drawings, mathematics
				err = w.inline(p, depth+1)
			}
			if err != nil {
				return err
			}
		}
	}
}

// chars reads the text of an element.
func (w *docxWriter) chars(to *strings.Builder) error {
	for {
		t, err := w.d.Token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.CharData:
			to.Write(t)
		case xml.StartElement:
			if err := w.d.Skip(); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

// properties reads the properties of a paragraph.
func (w *docxWriter) properties(p *docxParagraph) error {
	for depth := 1; depth > 0; {
		t, err := w.d.Token()
		if err != nil {
			return err
		}
		switch e := t.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			switch e.Name.Local {
			case "pStyle":
				p.style = attr(e, "val")
			case "outlineLvl":
				p.outline = atoi(attr(e, "val"), -1)
			case "numId":
				p.list = attr(e, "val")
			case "ilvl":
				p.level = atoi(attr(e, "val"), 0)
			case "rPr", "pPrChange", "sectPr":
				if err := w.d.Skip(); err != nil {
					return err
				}
				continue
			}
			depth++
		}
	}
	return nil
}

// hidden reads the properties of a run and reports whether they hide its text.
func (w *docxWriter) hidden() (bool, error) {
	hidden := false
	for depth := 1; depth > 0; {
		t, err := w.d.Token()
		if err != nil {
			return false, err
		}
		switch e := t.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			if v := attr(e, "val"); e.Name.Local == "vanish" && v != "0" && v != "false" {
				hidden = true
			}
			depth++
		}
	}
	return hidden, nil
}

// paragraph writes a paragraph according to its style and list.
func (w *docxWriter) paragraph(p *docxParagraph) {
	style := w.styles.whole(p.style)
	text := p.text.String()
	if style.contents() {
		return
	}
	if w.cell {
		w.cells = append(append(append(w.cells, text), p.notes...), p.boxes...)
		return
	}
	if style.code() && strings.TrimSpace(text) != "" || len(w.code) > 0 && style.code() {
		w.code = append(w.code, strings.Split(text, "\n")...)
		return
	}
	w.flushCode()
	if list := p.list; list != "" || style.list != "" {
		if list == "" {
			list = style.list
		}
		level := p.level
		if level < 0 {
			level = max(style.level, 0)
		}
		if strings.TrimSpace(text) != "" {
			w.listed(p, style, text, w.lists.next(list, level))
		}
	} else {
		w.listed(p, style, text, "")
	}
	for _, t := range append(p.notes, p.boxes...) {
		w.b.paragraph(t)
	}
}

// listed writes a paragraph with its list number. number is empty outside a list.
func (w *docxWriter) listed(p *docxParagraph, style docxStyle, text, number string) {
	outline := style.outline
	if p.outline >= 0 {
		outline = p.outline
	}
	switch {
	case outline >= 0 && outline < 9:
		if number != "" && number != "-" {
			text = number + " " + text
		}
		w.b.heading(min(outline+1, 6), text, "")
	case style.name == "title" && w.title == "":
		w.title = clean(text)
		w.b.heading(1, text, "")
	case number == "-":
		w.b.item("-", text)
	case number != "":
		if digits := strings.TrimRight(number, ".)"); digits != "" && strings.Trim(digits, "0123456789") == "" {
			w.b.item(digits+".", text)
		} else { // keep "a)" and "1.2." as printed
			w.b.item("-", number+" "+text)
		}
	default:
		w.b.paragraph(text)
	}
}

func (w *docxWriter) flushCode() {
	if len(w.code) > 0 {
		w.b.code(strings.Join(w.code, "\n"))
		w.code = nil
	}
}
