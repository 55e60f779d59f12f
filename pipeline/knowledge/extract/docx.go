package extract

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/net/html/charset"
)

// Limits of one DOCX file: what its parts may unpack to, and how often larger than packed. Honest XML shrinks to a
// tenth, long tables to a fiftieth.
const (
	maxParts     = 20_000
	maxPart      = 96 << 20
	maxPartRatio = 400
	maxDOCXDepth = 60 // of tables in tables, boxes in boxes
)

// DOCX extracts a document of Word or another word processor. Headings are known by their outline levels, lists by
// their numbering; what tracked changes delete is left out, what they insert is text; notes follow their paragraph.
// The error wraps ErrDamaged, ErrEncrypted, ErrTooLarge or ErrBinary.
func DOCX(data []byte) (Document, error) {
	if bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0")) { // an OLE container: what Word makes of a password, or a .doc
		return Document{}, fmt.Errorf("%w, or an old .doc: save it as .docx", ErrEncrypted)
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return Document{}, fmt.Errorf("%w (%w)", ErrDamaged, err)
	}
	if len(archive.File) > maxParts {
		return Document{}, ErrTooLarge
	}
	f := &docxFile{parts: map[string]*zip.File{}}
	for _, part := range archive.File {
		f.parts[strings.TrimPrefix(path.Clean("/"+part.Name), "/")] = part
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
	title, day, err := f.properties()
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
		return Document{}, docxReason(err)
	}
	w.flushCode()
	if title == "" {
		title = w.title
	}
	doc := w.b.document(title, day)
	if doc.Text == "" && len(doc.Sections) > 1 {
		return Document{}, ErrEmpty
	}
	return doc, nil
}

// isDOCX reports whether data is a zip file that holds a document of Word.
func isDOCX(data []byte) bool {
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return false
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return false
	}
	for _, f := range archive.File {
		if f.Name == "word/document.xml" {
			return true
		}
	}
	return false
}

type docxFile struct{ parts map[string]*zip.File }

// docxReason keeps reasons and calls everything else damage.
func docxReason(err error) error {
	if errors.Is(err, ErrTooLarge) || errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w (%w)", ErrDamaged, err)
}

// open returns a decoder of a part; nil when the file has no such part.
func (f *docxFile) open(name string) (*xml.Decoder, error) {
	part := f.parts[name]
	if part == nil {
		return nil, nil
	}
	size, packed := part.UncompressedSize64, part.CompressedSize64
	if size > maxPart || size > 1<<20 && packed > 0 && size/packed > maxPartRatio {
		return nil, fmt.Errorf("%w (%s)", ErrTooLarge, name)
	}
	r, err := part.Open()
	if err != nil {
		return nil, fmt.Errorf("%w (%s: %w)", ErrDamaged, name, err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxPart+1)) // what the directory says of the size may be a lie
	if len(data) > maxPart {
		return nil, fmt.Errorf("%w (%s)", ErrTooLarge, name)
	}
	if err != nil && len(data) == 0 {
		return nil, fmt.Errorf("%w (%s: %w)", ErrDamaged, name, err)
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false // no entities are ever fetched: the decoder knows none but its own
	d.CharsetReader = charset.NewReaderLabel
	return d, nil
}

// mainPart returns the name of the part that holds the text.
func (f *docxFile) mainPart() string {
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

// properties returns the title and the day of the last change.
func (f *docxFile) properties() (title, day string, err error) {
	d, err := f.open("docProps/core.xml")
	if d == nil || err != nil {
		return "", "", err
	}
	name, created := "", ""
	for {
		t, err := d.Token()
		if err != nil { // the end, or damage: properties are no reason to refuse a document
			break
		}
		switch t := t.(type) {
		case xml.StartElement:
			name = t.Name.Local
		case xml.EndElement:
			name = ""
		case xml.CharData:
			switch name {
			case "title":
				title += string(t)
			case "created":
				created = date(string(t))
			case "modified":
				day = date(string(t))
			}
		}
	}
	if day == "" {
		day = created
	}
	return fileTitle(title), day, nil
}

// notes reads the footnotes or endnotes into w.notes, by kind and id.
func (f *docxFile) notes(name, kind string, w *docxWriter) error {
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
			return docxReason(err)
		}
		e, ok := t.(xml.StartElement)
		if !ok || e.Name.Local != kind {
			continue
		}
		if special := attr(e, "type"); special == "separator" || special == "continuationSeparator" || special == "continuationNotice" {
			if err := d.Skip(); err != nil {
				return docxReason(err)
			}
			continue
		}
		texts, err := w.texts(0)
		if err != nil {
			return docxReason(err)
		}
		w.notes[kind+attr(e, "id")] = texts
	}
}

// elements calls use for every element of d.
func elements(d *xml.Decoder, use func(xml.StartElement)) error {
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e, ok := t.(xml.StartElement); ok {
			use(e)
		}
	}
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
