// Package pdf reads PDF files into words with their places on the page. It knows nothing of paragraphs, columns and
// headings: package extract makes text of the words.
//
// Cross-reference tables are not trusted: the objects are found by scanning the file, so that damaged files are read as
// far as they go. What a hostile file can cost is bounded: memory by the budgets below, time by ctx.
package pdf

import (
	"context"
	"errors"
	"fmt"
)

// The reasons for which a file cannot be read.
var (
	ErrNotPDF    = errors.New("not a PDF file")
	ErrEncrypted = errors.New("the PDF is encrypted with a password")
	ErrDamaged   = errors.New("the PDF is damaged")
	ErrTooLarge  = errors.New("the PDF unpacks to more than can be read")
)

// Limits of one file.
const (
	maxPages   = 20_000
	maxDecoded = 256 << 20 // bytes that all streams together may unpack to
	maxStream  = 64 << 20  // bytes that one stream, or the content of one page, may unpack to
	maxWords   = 2_000_000
	maxGlyphs  = 10 * maxWords
	maxValues  = 1 << 19 // in one object
	maxDepth   = 60      // of nested objects, forms and page trees

	maxMetadata = 1 << 20 // bytes of a packet of metadata
)

// Word is text without white space. Its box is in points (1/72 inch) from the upper left corner of the page as it is
// shown, y growing downwards: X0 < X1, Y0 < Y1.
type Word struct {
	Text           string
	X0, Y0, X1, Y1 float64
	Bold           bool // as far as the font's name says
	Mono           bool // as Bold
	Upright        bool // runs from left to right
}

// Page is one page; its words are in the order in which they are drawn.
type Page struct {
	Width, Height float64 // points
	Words         []Word
	Pictures      int // images that are shown
}

// Bookmark is an entry of the outline.
type Bookmark struct {
	Level int // from 1
	Title string
	Page  int // from 1; 0 = unknown
}

// Info is what the file says about itself.
type Info struct {
	Title     string
	Author    string
	Created   string // YYYYMMDD; empty = unknown
	Metadata  []byte // the XMP packet, XML; nil = none, or too long
	Bookmarks []Bookmark
	Pages     int
}

// IsPDF reports whether data begins like a PDF file; some have a few bytes of rubbish before the mark.
func IsPDF(data []byte) bool { return markAt(data) >= 0 }

// File is an opened PDF. Its methods must not be called concurrently; the context of Open ends them too.
type File struct {
	doc   *document
	pages []leaf
	info  Info
}

// Open finds the objects, pages and outline of a file. data must not change while the File is used.
// The error wraps ErrNotPDF, ErrEncrypted, ErrDamaged, ErrTooLarge or is context.Cause(ctx).
func Open(ctx context.Context, data []byte) (f *File, err error) {
	defer rescue(&err)
	at := markAt(data)
	if at < 0 {
		return nil, ErrNotPDF
	}
	d := newDocument(data[at:], func() error { return context.Cause(ctx) })
	if err := d.scan(); err != nil {
		return nil, err
	}
	pages := d.pageTree()
	if len(pages) == 0 {
		return nil, fmt.Errorf("%w: no page is left", ErrDamaged)
	}
	f = &File{doc: d, pages: pages}
	f.info = d.info(pages)
	return f, nil
}

// Info returns what the file says about itself.
func (f *File) Info() Info { return f.info }

// Words reads all pages. Errors as Open; a page that cannot be read is one without words.
func (f *File) Words() (pages []Page, err error) {
	defer rescue(&err)
	r := newRenderer(f.doc)
	for _, l := range f.pages {
		pages = append(pages, r.pageOf(l))
	}
	return pages, nil
}

// stop is the panic by which a budget ends the reading from deep inside.
type stop struct{ err error }

func rescue(err *error) {
	switch r := recover().(type) {
	case nil:
	case stop:
		*err = r.err
	default:
		panic(r)
	}
}

func markAt(data []byte) int {
	head := data[:min(len(data), 1024)]
	for i := 0; i+5 <= len(head); i++ {
		if string(head[i:i+5]) == "%PDF-" {
			return i
		}
	}
	return -1
}
