package office

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"nightdesk/pipeline/knowledge/extract/charset"
	"nightdesk/pipeline/knowledge/extract/document"
	"nightdesk/pipeline/knowledge/extract/xmltree"
)

// PPTX extracts a presentation. Each slide is a page with its title as heading; speaker notes follow the slide's text.
// The error wraps ErrDamaged, ErrEncrypted, ErrTooLarge or charset.ErrBinary.
func PPTX(data []byte, inner Inner) (document.Document, error) {
	f, err := openOffice(data, "pptx")
	if err != nil {
		return document.Document{}, err
	}
	f.inner = inner
	slides := f.slides()
	if len(slides) == 0 {
		return document.Document{}, fmt.Errorf("%w: a zip file without slides", charset.ErrBinary)
	}
	b := document.NewBuilder()
	var first []int // section of each slide
	for i, name := range slides {
		hidden, err := f.hiddenSlide(name)
		if hidden {
			continue
		}
		s, slideErr := f.slide(name)
		err = cmp.Or(err, slideErr)
		if err != nil {
			return document.Document{}, err
		}
		_, kinds := f.related(name)
		notes, err := f.slide(kinds["notesSlide"])
		if err != nil {
			return document.Document{}, err
		}
		first = append(first, b.Section()+1)
		s.write(b, i+1, notes)
	}
	doc := b.Document(f.properties())
	for _, section := range first {
		doc.Pages = append(doc.Pages, doc.Sections[section].Offset)
	}
	return doc, nil
}

// slides returns the parts of the slides in presentation order.
func (f *archive) slides() []string {
	const main = "ppt/presentation.xml"
	targets, _ := f.related(main)
	var names []string
	_ = f.each(main, "sldId", func(e *xmltree.Element) {
		if part := targets[e.Attr["id"]]; f.parts[part] != nil && !slices.Contains(names, part) {
			names = append(names, part)
		}
	})
	if len(names) > 0 {
		return names
	}
	for _, name := range slices.Sorted(maps.Keys(f.parts)) {
		if ok, _ := path.Match("ppt/slides/slide*.xml", name); ok {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return len(a) - len(b) }) // slide10 after slide9
	return names
}

// hiddenSlide reports whether a slide is not shown.
func (f *archive) hiddenSlide(name string) (bool, error) {
	data, err := f.read(name)
	root, _, _ := bytes.Cut(data[:min(len(data), 4096)], []byte("cSld"))
	return bytes.Contains(root, []byte(` show="0"`)), err
}

// slideText is the text of a slide or of its notes.
type slideText struct {
	title  string
	blocks []func(*document.Builder) // writes a paragraph, an item or a table
}

// write writes the slide with number n, followed by its notes.
func (s slideText) write(b *document.Builder, n int, notes slideText) {
	b.Heading(2, cmp.Or(document.Clean(s.title), fmt.Sprintf("Slide %d", n)), "")
	for _, write := range append(s.blocks, notes.blocks...) {
		write(b)
	}
}

// notShown are the types of placeholders that repeat on all slides.
var notShown = document.Set("sldNum dt ftr hdr sldImg")

// slide reads the text of a slide or of its notes, with the data of its charts and diagrams. The
// result is empty if the part does not exist.
func (f *archive) slide(name string) (s slideText, err error) {
	targets, _ := f.related(name)
	err = f.each(name, "sp graphicFrame", func(e *xmltree.Element) {
		if isOn(e.Find("cNvPr").Attr["hidden"]) {
			return
		}
		if e.Name == "graphicFrame" {
			s.blocks = append(s.blocks, func(b *document.Builder) {
				for _, table := range e.All("tbl") {
					writeTable(b, table)
				}
				f.drawings(b, targets, e)
			})
			return
		}
		kind := ""
		if placeholder := e.Find("ph"); placeholder.Name != "" {
			kind = cmp.Or(placeholder.Attr["type"], "body")
		}
		for _, p := range e.All("p") {
			text := slideLine(p)
			switch {
			case notShown[kind]:
			case kind == "title" || kind == "ctrTitle":
				s.title = strings.TrimSpace(s.title + " " + text)
			case kind == "body":
				s.blocks = append(s.blocks, func(b *document.Builder) { b.Item("-", text) })
			default:
				s.blocks = append(s.blocks, func(b *document.Builder) { b.Paragraph(text) })
			}
		}
	})
	return s, err
}

func writeTable(b *document.Builder, table *xmltree.Element) {
	var t document.Table
	for _, row := range table.All("tr") {
		t.Row()
		for _, cell := range row.All("tc") {
			if !isOn(cell.Attr["hMerge"]) && !isOn(cell.Attr["vMerge"]) {
				t.Cell(slideLine(cell), xmltree.Number(cell.Attr["gridSpan"], 1), xmltree.Number(cell.Attr["rowSpan"], 1))
			}
		}
	}
	t.Write(b)
}

// slideLine returns the text of a paragraph or cell as one line.
func slideLine(e *xmltree.Element) string {
	var text line
	e.Visit(func(k *xmltree.Element) bool {
		switch k.Name {
		case "oMath":
			text.write(formula(k), look{})
			return false
		case "r":
			text.write(k.Child("t").Text, slideLook(k.Child("rPr")))
			return false
		case "t":
			text.write(k.Text, look{})
		case "br", "tab", "p":
			text.write(" ", look{})
		}
		return true
	})
	return text.String()
}

// slideLook returns how a run of a slide looks.
func slideLook(properties *xmltree.Element) look {
	return look{
		struck: isOn(properties.Attr["strike"]),
		raised: xmltree.Number(properties.Attr["baseline"], 0) > 0,
		tiny:   xmltree.Number(properties.Attr["sz"], 999) <= 100,
		font:   cmp.Or(properties.Child("sym").Attr["typeface"], properties.Child("latin").Attr["typeface"]),
	}
}
