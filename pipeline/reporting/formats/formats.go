// Package formats shows a finished report in other forms than its Markdown: as a page for browsers and as a document
// for word processors. It changes nothing of what the report says and takes nothing from anywhere: what is not given
// is not shown.
//
// Reports quote pages that somebody else has written, so the Markdown is foreign text. It is parsed once into a few
// kinds of blocks and runs of text; raw HTML is text like any other, and of links only those stay that a reader can
// trust to be one: http, https, mailto, and places of the report itself.
//
// Entry points: HTML and DOCX.
package formats

import (
	"errors"
	"fmt"
)

// Names of the formats, which are the extensions of their files.
const (
	NameHTML = "html"
	NameDOCX = "docx"
)

// Names returns all formats beside Markdown. The slice is the caller's.
func Names() []string { return []string{NameHTML, NameDOCX} }

// Bounds of what is made: a report is some hundred kilobytes, its figures a few megabytes.
const (
	MaxMarkdown = 2 << 20  // bytes
	MaxFigures  = 24 << 20 // bytes, of all figures of a report together; further ones are shown by their titles
)

// ErrTooLarge means that a report exceeds MaxMarkdown, or that its tables have more cells than those of any report.
var ErrTooLarge = errors.New("the report is too large to be shown in another form")

// Report is a finished report and what belongs to it.
type Report struct {
	Markdown string
	Title    string // plain text
	Language string // BCP 47, such as "en"

	// Notes has what stands behind citations, by the anchor of their reference: "ref-cit-3-01", "ref-1".
	Notes map[string]Note
	// Files has the addresses of local documents, "file:///...", by the names that references show.
	Files map[string]string
	// Figures has the pictures by the path that the Markdown shows them under, "../cache/<run>/figures/<sha256>.svg" or
	// .png. Others are shown by their title alone.
	Figures map[string][]byte

	// Checks has what was found of the report's sentences, in their order; none: the page cannot show it.
	Checks []Check
	Words  CheckWords

	// News has the sentences and rows that the last report on the topic did not have, Markdown without citations, in
	// their order; none: the page cannot show it.
	News []string
}

// CheckWords are what a page says about its checks and its news, in the language of the report.
type CheckWords struct{ Show, Confirmed, Conclusion, Unconfirmed, Unsupported, News string }

// Note is what stands behind a citation.
type Note struct {
	Title    string    // of the source, plain text
	Passages []Passage // that claims stand on
}

// Passage is a passage of a source with what stands around it there. All are plain text.
type Passage struct{ Before, Quote, After string }

// Make returns a report in the named format. Equal reports give equal bytes. The error wraps ErrTooLarge, or says
// that there is no such format.
func Make(name string, r Report) ([]byte, error) {
	switch name {
	case NameHTML:
		return HTML(r)
	case NameDOCX:
		return DOCX(r)
	}
	return nil, fmt.Errorf("there is no format %q of reports", name)
}
