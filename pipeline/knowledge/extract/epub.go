package extract

import (
	"cmp"
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

// book reads the package document. A damaged one yields what precedes the damage.
func (f *archive) book() (b book, err error) {
	name := ""
	_ = f.each("META-INF/container.xml", "rootfile", func(e *element) {
		name = cmp.Or(name, path.Clean(e.attr["full-path"]))
	})
	if f.parts[name] == nil {
		return b, fmt.Errorf("%w: a zip file without a book", ErrBinary)
	}
	files := map[string]string{} // chapters of the manifest by id
	err = f.each(name, "item itemref creator title publisher date", func(e *element) {
		switch e.name {
		case "item":
			kind, _ := TypeOfMedia(e.attr["media-type"])
			if kind == TypeHTML && !strings.Contains(e.attr["properties"], "nav") {
				files[e.attr["id"]] = f.beside(name, e.attr["href"])
			}
		case "itemref":
			if file := files[e.attr["idref"]]; f.parts[file] != nil {
				b.chapters = append(b.chapters, file)
			}
		default:
			b.field(e.name, e.text)
		}
	})
	if len(b.chapters) == 0 {
		return b, cmp.Or(err, fmt.Errorf("%w: the book has no chapters", ErrDamaged))
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
	err := f.each("META-INF/encryption.xml", "CipherReference", func(e *element) {
		locked[f.beside("", e.attr["URI"])] = true
	})
	return locked, err
}
