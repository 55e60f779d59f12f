package extract

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// DOCX extracts a Word document. It recognizes headings by outline level and lists by numbering. Tracked deletions are
// omitted, tracked insertions are included, and notes follow their paragraph. The error wraps ErrDamaged, ErrEncrypted,
// ErrTooLarge or ErrBinary.
func DOCX(data []byte) (Document, error) {
	if isOLE(data) {
		return Document{}, fmt.Errorf("%w, or an old .doc: save it as .docx", ErrEncrypted)
	}
	f, err := openArchive(data)
	if err != nil {
		return Document{}, err
	}
	w := &docxWriter{b: newBuilder()}
	main := f.mainPart()
	folder := path.Dir(main)
	if w.styles, err = f.styles(path.Join(folder, "styles.xml")); err != nil {
		return Document{}, err
	}
	if w.lists, err = f.numbering(path.Join(folder, "numbering.xml")); err != nil {
		return Document{}, err
	}
	w.notes = map[string][]string{}
	for _, kind := range []string{"footnote", "endnote"} {
		if err := f.notes(path.Join(folder, kind+"s.xml"), kind, w); err != nil {
			return Document{}, err
		}
	}
	said, err := f.properties()
	if err != nil {
		return Document{}, err
	}
	body, err := f.open(main)
	if err != nil {
		return Document{}, err
	}
	if body == nil {
		return Document{}, fmt.Errorf("%w: a zip file without a document of Word", ErrBinary)
	}
	w.d = body
	if err := w.blocks(0); err != nil {
		return Document{}, damage(err)
	}
	w.flushCode()
	said.or(stated{title: w.title})
	doc := w.b.document(said)
	if doc.Text == "" && len(doc.Sections) > 1 {
		return Document{}, ErrEmpty
	}
	return doc, nil
}

// mainPart returns the name of the part that contains the body text.
func (f *archive) mainPart() string {
	main := "word/document.xml"
	if d, err := f.open("_rels/.rels"); err == nil && d != nil {
		_ = elements(d, func(e xml.StartElement) {
			if e.Name.Local == "Relationship" && strings.HasSuffix(attr(e, "Type"), "/officeDocument") {
				if target := strings.TrimPrefix(attr(e, "Target"), "/"); f.parts[target] != nil {
					main = target
				}
			}
		})
	}
	return main
}

// notes reads the footnotes or endnotes into w.notes, keyed by kind and id.
func (f *archive) notes(name, kind string, w *docxWriter) error {
	d, err := f.open(name)
	if d == nil || err != nil {
		return err
	}
	w.d = d
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return damage(err)
		}
		e, ok := t.(xml.StartElement)
		if !ok || e.Name.Local != kind {
			continue
		}
		if special := attr(e, "type"); special == "separator" || special == "continuationSeparator" ||
			special == "continuationNotice" {
			if err := d.Skip(); err != nil {
				return damage(err)
			}
			continue
		}
		texts, err := w.texts(0)
		if err != nil {
			return damage(err)
		}
		w.notes[kind+attr(e, "id")] = texts
	}
}
