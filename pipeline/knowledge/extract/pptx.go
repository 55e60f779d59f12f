package extract

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// PPTX extracts a presentation. Each slide is a page with its title as heading; speaker notes follow the slide's text.
// The error wraps ErrDamaged, ErrEncrypted, ErrTooLarge or ErrBinary.
func PPTX(data []byte) (Document, error) {
	f, err := openOffice(data, "pptx")
	if err != nil {
		return Document{}, err
	}
	slides := f.slides()
	if len(slides) == 0 {
		return Document{}, fmt.Errorf("%w: a zip file without slides", ErrBinary)
	}
	b := newBuilder()
	var first []int // section of each slide
	for i, name := range slides {
		s, err := f.slide(name)
		if err != nil {
			return Document{}, err
		}
		_, kinds := f.related(name)
		notes, err := f.slide(kinds["notesSlide"])
		if err != nil {
			return Document{}, err
		}
		first = append(first, len(b.sections))
		s.write(b, i+1, notes)
	}
	doc := b.document(f.properties())
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
	_ = f.each(main, "sldId", func(e *element) {
		if part := targets[e.attr["id"]]; f.parts[part] != nil && !slices.Contains(names, part) {
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

// slideText is the text of a slide or of its notes.
type slideText struct {
	title  string
	blocks []func(*builder) // writes a paragraph, an item or a table
}

// write writes the slide with number n, followed by its notes.
func (s slideText) write(b *builder, n int, notes slideText) {
	b.heading(2, cmp.Or(clean(s.title), fmt.Sprintf("Slide %d", n)), "")
	for _, write := range append(s.blocks, notes.blocks...) {
		write(b)
	}
}

// notShown are the types of placeholders that repeat on all slides.
var notShown = set("sldNum dt ftr hdr sldImg")

// slide reads the text of a slide or of its notes. The result is empty if the part does not exist.
func (f *archive) slide(name string) (s slideText, err error) {
	err = f.each(name, "sp tbl", func(e *element) {
		if e.name == "tbl" {
			s.blocks = append(s.blocks, func(b *builder) { writeTable(b, e) })
			return
		}
		kind := ""
		if placeholder := e.find("ph"); placeholder.name != "" {
			kind = cmp.Or(placeholder.attr["type"], "body")
		}
		for _, p := range e.all("p") {
			text := slideLine(p)
			switch {
			case notShown[kind]:
			case kind == "title" || kind == "ctrTitle":
				s.title = strings.TrimSpace(s.title + " " + text)
			case kind == "body":
				s.blocks = append(s.blocks, func(b *builder) { b.item("-", text) })
			default:
				s.blocks = append(s.blocks, func(b *builder) { b.paragraph(text) })
			}
		}
	})
	return s, err
}

func writeTable(b *builder, table *element) {
	for _, row := range table.all("tr") {
		var cells []string
		for _, cell := range row.all("tc") {
			cells = append(cells, slideLine(cell))
		}
		b.row(cells)
	}
	b.endTable()
}

// slideLine returns the text of a paragraph or cell as one line.
func slideLine(e *element) string {
	var b strings.Builder
	e.visit(func(k *element) bool {
		switch k.name {
		case "t":
			b.WriteString(k.text)
		case "br", "tab", "p":
			b.WriteByte(' ')
		}
		return true
	})
	return b.String()
}
