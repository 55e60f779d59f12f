package extract

import (
	"encoding/xml"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// EPUB extracts a book. Chapters are read in order, each as an HTML page. The error wraps ErrDamaged, ErrEncrypted,
// ErrTooLarge or ErrBinary.
func EPUB(data []byte) (Document, error) {
	f, err := openArchive(data)
	if err != nil {
		return Document{}, err
	}
	book, err := f.book()
	if err != nil {
		return Document{}, err
	}
	locked, err := f.locked()
	if err != nil {
		return Document{}, err
	}
	b := newBuilder()
	for _, chapter := range book.chapters {
		if locked[chapter] {
			return Document{}, ErrEncrypted
		}
		content, err := f.read(chapter)
		if err != nil {
			return Document{}, err
		}
		text, err := decodeHTML(content, "")
		if err != nil {
			continue // an image or invalid content; continue with the other chapters
		}
		w := &htmlWalker{b: b, inArticle: true}
		w.walk(contentRoot(parseTree(text)))
		w.flush()
	}
	return b.document(book.stated), nil
}

// book is the content of a package document.
type book struct {
	stated
	chapters []string // parts in reading order
}

// book reads the package document.
func (f *archive) book() (b book, err error) {
	d, err := f.open("META-INF/container.xml")
	if err != nil {
		return b, err
	}
	name := ""
	if d != nil {
		_ = elements(d, func(e xml.StartElement) {
			if e.Name.Local == "rootfile" && name == "" {
				name = path.Clean(attr(e, "full-path"))
			}
		})
	}
	if d, err = f.open(name); err != nil {
		return b, err
	}
	if d == nil {
		return b, fmt.Errorf("%w: a zip file without a book", ErrBinary)
	}
	files := map[string]string{} // chapters of the manifest by id
	inside := ""
	for {
		t, err := d.Token()
		if err != nil { // the end, or damage; keep what was read so far
			break
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch inside = t.Name.Local; inside {
			case "item":
				kind, _ := TypeOfMedia(attr(t, "media-type"))
				if kind == TypeHTML && !strings.Contains(attr(t, "properties"), "nav") {
					files[attr(t, "id")] = f.beside(name, attr(t, "href"))
				}
			case "itemref":
				if file := files[attr(t, "idref")]; f.parts[file] != nil {
					b.chapters = append(b.chapters, file)
				}
			}
		case xml.EndElement:
			inside = ""
		case xml.CharData:
			b.property(inside, string(t))
		}
	}
	if len(b.chapters) == 0 {
		return b, fmt.Errorf("%w: the book has no chapters", ErrDamaged)
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
	d, err := f.open("META-INF/encryption.xml")
	if d == nil || err != nil {
		return nil, err
	}
	locked := map[string]bool{}
	_ = elements(d, func(e xml.StartElement) {
		if e.Name.Local == "CipherReference" {
			locked[f.beside("", attr(e, "URI"))] = true
		}
	})
	return locked, nil
}
