// Package document holds the common form of a text, a Document, with the builder that writes it and the readers of what
// a document states about itself: title, authors, publisher and date.
//
// The entry points are NewBuilder, Metadata and HeadLines.
package document

import "errors"

// Reasons why a file yields no document.
var (
	ErrEmpty     = errors.New("no text in it")
	ErrEncrypted = errors.New("encrypted: save a copy without a password")
	ErrDamaged   = errors.New("damaged: open it and save it again")
	ErrTooLarge  = errors.New("it is too large when unpacked: split it")
)

// Document is the text of one file.
type Document struct {
	Title     string   // empty if the file has no title
	Authors   []string // as named in the file; at most 10
	Publisher string   // organisation, site or journal named in the file; empty if there is none
	// date that the file states for itself: YYYY-MM-DD, YYYY-MM or YYYY; empty if there is none
	Date     string
	Text     string    // common form: valid UTF-8, "\n" line ends, no white space at either end
	Sections []Section // in order; the first starts at 0 and holds the text before the first heading
	Terms    []Term    // defined terms, in order
	Pages    []int     // byte offset in Text of each page; nil if the format has no pages
	Images   []Image   // images of a web page, in order
	About    About     // of a web page
}

// About is what a web page states about its kind.
type About struct {
	Type   string // og:type: article, product, video.other
	Schema string // @type of its linked data: NewsArticle, BlogPosting
	Paper  bool   // has citation_* elements, as pages of papers do for Google Scholar
}

// Section is the text below one heading. It ends where the next section begins.
type Section struct {
	Path   []string // headings from the top down, including its own but not the title; empty before the first heading
	Anchor string   // URL fragment of the heading, without #; empty if there is none
	Offset int      // byte offset in Document.Text; a heading without its own text has the offset of the next section
}

// Term is a term of a definition list: a function, a setting or a glossary entry.
type Term struct {
	Text   string // as it appears in Document.Text at Offset
	Anchor string
	Offset int
}

// Image is an image in the text of a page that has a description.
type Image struct {
	Source  string // address as written in the page, possibly relative to Base
	Base    string // base of relative addresses, if the page sets it; empty for the page's own address
	Caption string // caption, else alternative text; one line
	Licence string // name or address as document.Metadata in the page; empty if none is stated
	Section int    // index in Document.Sections
}
