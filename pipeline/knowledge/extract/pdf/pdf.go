// Package pdf reads the words of PDF files and their positions on the page. It does not detect paragraphs, columns or
// headings; package extract builds text from the words.
//
// Cross-reference tables are not trusted. Objects are found by scanning the file, so that damaged files are read as far
// as possible. Resource use is bounded for malicious files: memory by the limits below, time by ctx.
package pdf

import (
	"context"
	"errors"
	"fmt"
)

// Reasons why a file cannot be read.
var (
	ErrNotPDF    = errors.New("not a PDF file")
	ErrEncrypted = errors.New("the PDF is encrypted with a password")
	ErrDamaged   = errors.New("the PDF is damaged")
	ErrTooLarge  = errors.New("the PDF unpacks to more than can be read")
)

// Limits for one file.
const (
	maxPages   = 20_000
	maxDecoded = 256 << 20 // decoded bytes of all streams together
	maxStream  = 64 << 20  // decoded bytes of one stream or of the content of one page
	maxWords   = 2_000_000
	maxGlyphs  = 10 * maxWords
	maxValues  = 1 << 19 // per object
	maxDepth   = 60      // nesting of objects, forms and page trees

	maxMetadata = 1 << 20 // bytes of a metadata packet
)

// Word is text without white space. Its box is in points (1/72 inch) from the upper left corner of the page as
// displayed, with y pointing down, X0 < X1 and Y0 < Y1.
type Word struct {
	Text           string
	X0, Y0, X1, Y1 float64
	Bold           bool // according to the font's name
	Mono           bool // according to the font's name
	Turn           int  // degrees clockwise by which it is turned: 0, 90, 180 or 270; -1 for others
}

// Page is one page. Its words are in drawing order.
type Page struct {
	Width, Height float64 // points
	Words         []Word
	Pictures      int // number of images shown
}

// Bookmark is an entry of the outline.
type Bookmark struct {
	Level int // counted from 1
	Title string
	Page  int // counted from 1; 0 if unknown
}

// Info holds the metadata and the outline of a file.
type Info struct {
	Title     string
	Author    string
	Created   string // YYYYMMDD; empty if unknown
	Metadata  []byte // XMP packet in XML; nil if there is none or it is too long
	Bookmarks []Bookmark
	Pages     int
}

// IsPDF reports whether data is a PDF file. The file mark may follow other bytes, as in some files.
func IsPDF(data []byte) bool { return markAt(data) >= 0 }

// File is an opened PDF. Its methods must not be called concurrently, and the context of Open also cancels them.
type File struct {
	doc   *document
	pages []leaf
	info  Info
}

// Open finds the objects, pages and outline of a file. data must not change while the File is in use.
// The error wraps ErrNotPDF, ErrEncrypted, ErrDamaged or ErrTooLarge, or is context.Cause(ctx).
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

// Info returns the metadata and the outline.
func (f *File) Info() Info { return f.info }

// Words reads all pages. Errors are as for Open. An unreadable page has no words.
func (f *File) Words() (pages []Page, err error) {
	defer rescue(&err)
	r := newRenderer(f.doc)
	for _, l := range f.pages {
		pages = append(pages, r.pageOf(l))
	}
	return pages, nil
}

// stop is the panic value that ends reading when a limit is exceeded.
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
