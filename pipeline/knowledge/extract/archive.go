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

// Limits for a zip file: number of parts, unpacked size of one part and of all parts, and compression ratio. Valid XML
// shrinks to a tenth of its size, long tables to a fiftieth.
const (
	maxParts     = 20_000
	maxPart      = 96 << 20
	maxAllParts  = 256 << 20
	maxPartRatio = 400
	maxDOCXDepth = 60 // nesting depth of tables and text boxes
)

// archive is a zip file of parts: a Word, PowerPoint or EPUB file.
type archive struct {
	parts    map[string]*zip.File // by clean path
	unpacked int                  // bytes unpacked so far
}

// openArchive opens a zip file. The error wraps ErrDamaged or ErrTooLarge.
func openArchive(data []byte) (*archive, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrDamaged, err)
	}
	if len(r.File) > maxParts {
		return nil, ErrTooLarge
	}
	f := &archive{parts: map[string]*zip.File{}}
	for _, part := range r.File {
		f.parts[strings.TrimPrefix(path.Clean("/"+part.Name), "/")] = part
	}
	return f, nil
}

// isOLE reports whether data is an OLE container: an Office file with a password or in an old format.
func isOLE(data []byte) bool { return bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0")) }

// typeOfArchive identifies the type of a zip file by a part that all files of the type contain.
func typeOfArchive(data []byte) (Type, bool) {
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return "", false
	}
	f, err := openArchive(data)
	if err != nil {
		return "", false
	}
	for _, known := range []struct {
		part string
		kind Type
	}{{"word/document.xml", TypeDOCX}, {"ppt/presentation.xml", TypePPTX}, {"META-INF/container.xml", TypeEPUB}} {
		if f.parts[known.part] != nil {
			return known.kind, true
		}
	}
	return "", false
}

// damage wraps err in ErrDamaged unless it already wraps ErrTooLarge or ErrDamaged.
func damage(err error) error {
	if errors.Is(err, ErrTooLarge) || errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w (%w)", ErrDamaged, err)
}

// open returns a decoder for a part, or nil if the part does not exist.
func (f *archive) open(name string) (*xml.Decoder, error) {
	data, err := f.read(name)
	if data == nil || err != nil {
		return nil, err
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false // safe, because the decoder never loads external entities
	d.CharsetReader = charset.NewReaderLabel
	return d, nil
}

// read returns the content of a part, or nil if the part does not exist.
func (f *archive) read(name string) ([]byte, error) {
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
	data, err := io.ReadAll(io.LimitReader(r, maxPart+1)) // the size in the zip directory may be wrong
	if f.unpacked += len(data); len(data) > maxPart || f.unpacked > maxAllParts {
		return nil, fmt.Errorf("%w (%s)", ErrTooLarge, name)
	}
	if err != nil && len(data) == 0 {
		return nil, fmt.Errorf("%w (%s: %w)", ErrDamaged, name, err)
	}
	return data, nil
}

// properties returns the core properties of an Office file. The date is the modification date, else the creation date.
func (f *archive) properties() (stated, error) {
	var s stated
	d, err := f.open("docProps/core.xml")
	if d == nil || err != nil {
		return s, err
	}
	name, created := "", ""
	for {
		t, err := d.Token()
		if err != nil { // the end, or damage, which is not a reason to reject the document
			break
		}
		switch t := t.(type) {
		case xml.StartElement:
			name = t.Name.Local
		case xml.EndElement:
			name = ""
		case xml.CharData:
			switch name {
			case "created":
				created = date(string(t))
			case "modified":
				s.date = date(string(t))
			default:
				s.property(name, string(t))
			}
		}
	}
	s.title = fileTitle(s.title)
	s.or(stated{date: created})
	return s, nil
}

// related returns the targets of a part's relationships by id, and the first target of each kind (end of the type).
func (f *archive) related(name string) (byID, byKind map[string]string) {
	byID, byKind = map[string]string{}, map[string]string{}
	d, err := f.open(path.Join(path.Dir(name), "_rels", path.Base(name)+".rels"))
	if err != nil || d == nil {
		return byID, byKind
	}
	_ = elements(d, func(e xml.StartElement) { // a damaged part yields the elements before the damage
		target := attr(e, "Target")
		if e.Name.Local != "Relationship" || strings.EqualFold(attr(e, "TargetMode"), "External") {
			return
		}
		if !strings.HasPrefix(target, "/") {
			target = path.Join(path.Dir(name), target)
		}
		target = strings.TrimPrefix(path.Clean("/"+target), "/")
		byID[attr(e, "Id")] = target
		if kind := path.Base(attr(e, "Type")); byKind[kind] == "" {
			byKind[kind] = target
		}
	})
	return byID, byKind
}

// elements calls use for each element of d.
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
