// Package formats converts a finished report to other formats: an HTML page and a word processor document. It does not
// change the content and loads nothing; missing data is not shown.
//
// Reports quote pages of third parties, so the inline Markdown of their sentences is untrusted. Raw HTML is treated as
// text. Only safe links are kept: http, https, mailto, and places in the run's data.
//
// Entry points: HTML and DOCX.
package formats

import (
	"errors"
	"fmt"

	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
)

// Names of the formats, which are also the file extensions.
const (
	NameHTML = "html"
	NameDOCX = "docx"
)

// Names returns all formats besides Markdown. The caller owns the slice.
func Names() []string { return []string{NameHTML, NameDOCX} }

// Limits. A typical report has some hundred kilobytes, its figures a few megabytes.
const (
	MaxMarkdown = 2 << 20  // bytes
	MaxFigures  = 24 << 20 // bytes, of all figures of a report; for further ones only the title is shown
)

// ErrTooLarge means that a report exceeds MaxMarkdown, or the maximum number of table cells.
var ErrTooLarge = errors.New("the report is too large to be shown in another form")

// Report is a finished report with related data.
type Report struct {
	Tree     report.Report
	Title    string // plain text
	Language string // BCP 47 tag such as "en"

	// Notes holds the sources of citations by the anchor of their reference: "ref-cit-3-01", "ref-1".
	Notes map[string]Note
	// Files holds the addresses of local documents, "file:///...", by their names in the references.
	Files map[string]string
	// Figures holds the pictures by their path in the run's data, "figures/<sha256>.svg" or .png. Other pictures are
	// shown by title only.
	Figures map[string][]byte
}

// Note describes the source of a citation.
type Note struct {
	Title    string    // title of the source, plain text
	Passages []Passage // passages that claims are based on
}

// Passage is a passage of a source with its context. All fields are plain text.
type Passage struct{ Before, Quote, After string }

// Make returns a report in the named format. Equal reports give equal bytes. The error wraps ErrTooLarge, or means that
// the format is unknown.
func Make(name string, r Report) ([]byte, error) {
	switch name {
	case NameHTML:
		return HTML(r)
	case NameDOCX:
		return DOCX(r)
	}
	return nil, fmt.Errorf("there is no format %q of reports", name)
}

const (
	maxPassage  = 600 // length of a passage shown with a citation, in runes
	maxPassages = 12  // passages of one reference
)

// passage returns the passage that most likely supports a sentence: the most similar one.
func (n Note) passage(sentence string) (best Passage) {
	score := -1.0
	for _, p := range n.passages() {
		if s := text.Similarity(sentence, p.Quote); s > score {
			best, score = p, s
		}
	}
	return best
}

// passages returns the passages to show, each on one line.
func (n Note) passages() []Passage {
	var out []Passage
	for _, p := range n.Passages {
		if p.Quote = text.Clip(text.Line(p.Quote), maxPassage); p.Quote != "" && len(out) < maxPassages {
			p.Before, p.After = text.Line(p.Before), text.Line(p.After)
			out = append(out, p)
		}
	}
	return out
}
