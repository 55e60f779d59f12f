// Package office extracts the files that are zip archives of XML parts: Word (DOCX), PowerPoint (PPTX), Excel (XLSX),
// OpenDocument (ODT) and EPUB, and Rich Text (RTF).
package office

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"nightdesk/pipeline/knowledge/extract/document"
	"nightdesk/pipeline/knowledge/extract/xmltree"
)

// Limits for a zip file: number of parts, unpacked size of one part and of all parts, and compression ratio. Valid XML
// shrinks to a tenth of its size, long tables to a fiftieth.
const (
	maxParts     = 20_000
	maxPart      = 96 << 20
	maxAllParts  = 256 << 20
	maxPartRatio = 400
)

// archive is a zip file of parts: a Word, PowerPoint or EPUB file.
type archive struct {
	parts    map[string]*zip.File // by clean path
	unpacked int                  // bytes unpacked so far
	inner    Inner                // reads the documents in it
}

// openArchive opens a zip file. The error wraps ErrDamaged or ErrTooLarge.
func openArchive(data []byte) (*archive, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", document.ErrDamaged, err)
	}
	if len(r.File) > maxParts {
		return nil, document.ErrTooLarge
	}
	f := &archive{parts: map[string]*zip.File{}}
	for _, part := range r.File {
		f.parts[strings.TrimPrefix(path.Clean("/"+part.Name), "/")] = part
	}
	return f, nil
}

// openOffice opens an Office file with the given extension. The error wraps ErrDamaged, ErrTooLarge, or ErrEncrypted
// for an OLE container: an Office file with a password or in the old format, whose extension has one letter less.
func openOffice(data []byte, extension string) (*archive, error) {
	if bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0")) {
		return nil, fmt.Errorf("%w, or an old .%s: save it as .%s", document.ErrEncrypted, extension[:3], extension)
	}
	return openArchive(data)
}

// TypeOf identifies the type of a zip file by a part that all files of the type contain: docx, pptx, xlsx, epub or odt.
func TypeOf(data []byte) (kind string, ok bool) {
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return "", false
	}
	f, err := openArchive(data)
	if err != nil {
		return "", false
	}
	for _, known := range []struct {
		part string
		kind string
	}{
		{"word/document.xml", "docx"}, {"ppt/presentation.xml", "pptx"}, {"xl/workbook.xml", "xlsx"},
		{"META-INF/container.xml", "epub"}, {"content.xml", "odt"},
	} {
		if f.parts[known.part] != nil {
			return known.kind, true
		}
	}
	return "", false
}

// each calls use for the elements of a part with one of the names. A part that does not exist has none. The error wraps
// ErrDamaged or ErrTooLarge.
func (f *archive) each(name, names string, use func(*xmltree.Element)) error {
	data, err := f.read(name)
	if data == nil || err != nil {
		return err
	}
	err = xmltree.Each(data, document.Set(names), use)
	if err == nil || errors.Is(err, document.ErrTooLarge) {
		return err
	}
	return fmt.Errorf("%w (%s: %w)", document.ErrDamaged, name, err)
}

// read returns the content of a part, or nil if the part does not exist.
func (f *archive) read(name string) ([]byte, error) {
	part := f.parts[name]
	if part == nil {
		return nil, nil
	}
	size, packed := part.UncompressedSize64, part.CompressedSize64
	huge := size > maxPart || size > 1<<20 && packed > 0 && size/packed > maxPartRatio
	if huge || f.unpacked > maxAllParts {
		return nil, fmt.Errorf("%w (%s)", document.ErrTooLarge, name)
	}
	r, err := part.Open()
	if err != nil {
		return nil, fmt.Errorf("%w (%s: %w)", document.ErrDamaged, name, err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxPart+1)) // the size in the zip directory may be wrong
	if f.unpacked += len(data); len(data) > maxPart || f.unpacked > maxAllParts {
		return nil, fmt.Errorf("%w (%s)", document.ErrTooLarge, name)
	}
	if err != nil && len(data) == 0 {
		return nil, fmt.Errorf("%w (%s: %w)", document.ErrDamaged, name, err)
	}
	return data, nil
}

// properties returns the core properties of an Office file. The date is the modification date, else the creation date.
// A damaged part yields the properties before the damage.
func (f *archive) properties() (s document.Metadata) {
	created := ""
	_ = f.each("docProps/core.xml", "title creator publisher created modified", func(e *xmltree.Element) {
		switch e.Name {
		case "created":
			created = document.ParseDate(e.Text)
		case "modified":
			s.Date = document.ParseDate(e.Text)
		default:
			s.Field(e.Name, e.Text)
		}
	})
	s.Title = document.FileTitle(s.Title)
	s.Or(document.Metadata{Date: created})
	s.OfFile = true
	return s
}

// related returns the targets of a part's relationships by id, and the first target of each kind (end of the type). The
// name "" stands for the whole file. A damaged part yields the relationships before the damage.
func (f *archive) related(name string) (byID, byKind map[string]string) {
	byID, byKind = map[string]string{}, map[string]string{}
	folder, file := path.Split(name)
	_ = f.each(path.Join(folder, "_rels", file+".rels"), "Relationship", func(e *xmltree.Element) {
		if strings.EqualFold(e.Attr["TargetMode"], "External") {
			return
		}
		target := e.Attr["Target"]
		if !strings.HasPrefix(target, "/") {
			target = path.Join(folder, target)
		}
		target = strings.TrimPrefix(path.Clean("/"+target), "/")
		byID[e.Attr["Id"]] = target
		if kind := path.Base(e.Attr["Type"]); byKind[kind] == "" {
			byKind[kind] = target
		}
	})
	return byID, byKind
}

// main returns the main part of an Office file, or usual if the file names none.
func (f *archive) main(usual string) string {
	if _, kinds := f.related(""); f.parts[kinds["officeDocument"]] != nil {
		return kinds["officeDocument"]
	}
	return usual
}

// isOn reports whether an attribute is present and not false.
func isOn(value string) bool { return value != "" && !off[value] }

var off = document.Set("0 false off none noStrike")
