package extract

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// PPTX extracts a presentation. Each slide is a page with its title as heading; speaker notes follow the slide's text.
// The error wraps ErrDamaged, ErrEncrypted, ErrTooLarge or ErrBinary.
func PPTX(data []byte) (Document, error) {
	if isOLE(data) {
		return Document{}, fmt.Errorf("%w, or an old .ppt: save it as .pptx", ErrEncrypted)
	}
	f, err := openArchive(data)
	if err != nil {
		return Document{}, err
	}
	slides := f.slides()
	if len(slides) == 0 {
		return Document{}, fmt.Errorf("%w: a zip file without slides", ErrBinary)
	}
	said, err := f.properties()
	if err != nil {
		return Document{}, err
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
	doc := b.document(said)
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
	if d, err := f.open(main); err == nil && d != nil {
		_ = elements(d, func(e xml.StartElement) {
			if e.Name.Local != "sldId" {
				return
			}
			for _, a := range e.Attr {
				if part := targets[a.Value]; a.Name.Local == "id" && f.parts[part] != nil && !slices.Contains(names, part) {
					names = append(names, part)
				}
			}
		})
	}
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

// slideBlock is one paragraph or table of a slide.
type slideBlock struct {
	text string
	item bool
	rows [][]string
}

type slideText struct {
	title  string
	blocks []slideBlock
}

// write writes the slide with number n, followed by its notes.
func (s slideText) write(b *builder, n int, notes slideText) {
	title := clean(s.title)
	if title == "" {
		title = fmt.Sprintf("Slide %d", n)
	}
	b.heading(2, title, "")
	for _, block := range append(s.blocks, notes.blocks...) {
		switch {
		case block.rows != nil:
			for _, row := range block.rows {
				b.row(row)
			}
			b.last = min(b.last, blockText) // start a new table
		case block.item:
			b.item("-", block.text)
		default:
			b.paragraph(block.text)
		}
	}
}

// notShown are the types of placeholders that repeat on all slides.
var notShown = set("sldNum dt ftr hdr sldImg")

// slide reads the text of a slide or of its notes. The result is empty if the part does not exist.
func (f *archive) slide(name string) (s slideText, err error) {
	d, err := f.open(name)
	if d == nil || err != nil {
		return s, err
	}
	var text strings.Builder
	var rows [][]string
	kind, inText, depth := "", false, 0 // depth counts nested tables
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return s, damage(err)
		}
		switch t := t.(type) {
		case xml.CharData:
			if inText {
				text.Write(t)
			}
		case xml.StartElement:
			switch t.Name.Local {
			case "Fallback":
				if err := d.Skip(); err != nil {
					return s, damage(err)
				}
			case "sp":
				kind = ""
			case "ph":
				if kind = attr(t, "type"); kind == "" {
					kind = "body"
				}
			case "tbl":
				depth++
				rows = [][]string{}
			case "tr":
				rows = append(rows, nil)
			case "tc":
				text.Reset()
			case "t":
				inText = true
			case "br", "tab":
				text.WriteByte(' ')
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "t":
				inText = false
			case "p":
				if depth > 0 {
					text.WriteByte(' ')
					continue
				}
				s.paragraph(kind, text.String())
				text.Reset()
			case "tc":
				if n := len(rows); n > 0 {
					rows[n-1] = append(rows[n-1], text.String())
				}
				text.Reset()
			case "tbl":
				depth--
				s.blocks = append(s.blocks, slideBlock{rows: rows})
			}
		}
	}
}

// paragraph adds one paragraph of a placeholder of the given type.
func (s *slideText) paragraph(kind, text string) {
	switch {
	case notShown[kind]:
	case kind == "title" || kind == "ctrTitle":
		s.title = strings.TrimSpace(s.title + " " + text)
	default:
		s.blocks = append(s.blocks, slideBlock{text: text, item: kind == "body"})
	}
}
