package office

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strings"

	"nightdesk/pipeline/knowledge/extract/charset"
	"nightdesk/pipeline/knowledge/extract/document"
	"nightdesk/pipeline/knowledge/extract/webpage"
	"nightdesk/pipeline/knowledge/extract/xmltree"
)

// EPUB extracts a book. Chapters are read in order, each as an HTML page. The error wraps ErrDamaged, ErrEncrypted,
// ErrTooLarge or charset.ErrBinary.
func EPUB(data []byte) (document.Document, error) {
	f, err := openArchive(data)
	if err != nil {
		return document.Document{}, err
	}
	book, err := f.book()
	if err != nil {
		return document.Document{}, err
	}
	locked, err := f.locked()
	if err != nil {
		return document.Document{}, err
	}
	b := document.NewBuilder()
	for _, chapter := range book.chapters {
		if locked[chapter] {
			return document.Document{}, document.ErrEncrypted
		}
		content, err := f.read(chapter)
		if err != nil {
			return document.Document{}, err
		}
		text, err := charset.Decode(content, "", true)
		if err != nil {
			continue // an image or invalid content; continue with the other chapters
		}
		webpage.Chapter(b, text)
	}
	return b.Document(book.Metadata), nil
}

// book is the content of a package document.
type book struct {
	document.Metadata
	chapters []string // parts in reading order
}

// book reads the package document. A damaged one yields what precedes the damage.
func (f *archive) book() (b book, err error) {
	name := ""
	_ = f.each("META-INF/container.xml", "rootfile", func(e *xmltree.Element) {
		name = cmp.Or(name, path.Clean(e.Attr["full-path"]))
	})
	if f.parts[name] == nil {
		return b, fmt.Errorf("%w: a zip file without a book", charset.ErrBinary)
	}
	files := map[string]string{} // chapters of the manifest by id
	parts := map[string]string{} // by name in lower case, because some programs write names in another case
	for part := range f.parts {
		parts[strings.ToLower(part)] = part
	}
	err = f.each(name, "item itemref creator title publisher date", func(e *xmltree.Element) {
		switch e.Name {
		case "item":
			kind := e.Attr["media-type"]
			if (kind == "application/xhtml+xml" || kind == "text/html") && !strings.Contains(e.Attr["properties"], "nav") {
				files[e.Attr["id"]] = parts[strings.ToLower(f.beside(name, e.Attr["href"]))]
			}
		case "itemref":
			if file := files[e.Attr["idref"]]; f.parts[file] != nil {
				b.chapters = append(b.chapters, file)
			}
		default:
			b.Field(e.Name, e.Text)
		}
	})
	if len(b.chapters) == 0 {
		return b, cmp.Or(err, fmt.Errorf("%w: the book has no chapters", document.ErrDamaged))
	}
	return b, nil
}

// beside resolves a reference in a part to the name of another part.
func (f *archive) beside(name, href string) string {
	if plain, err := url.PathUnescape(href); err == nil {
		href = plain
	}
	return strings.TrimPrefix(path.Join("/", path.Dir(name), href), "/")
}

// locked returns the encrypted parts.
func (f *archive) locked() (map[string]bool, error) {
	locked := map[string]bool{}
	err := f.each("META-INF/encryption.xml", "CipherReference", func(e *xmltree.Element) {
		locked[f.beside("", e.Attr["URI"])] = true
	})
	return locked, err
}
