// Package extract turns files into one common form of text: Markdown, HTML, plain text, CSV, PDF, Word,
// PowerPoint and EPUB files become a Document.
//
// The form. Paragraphs are separated by blank lines, and a paragraph is one line: hard line breaks are joined. List
// items begin with "- " or "1. ", one line each. Code stands verbatim between ``` fences; table rows are lines
// "| a | b |". Headings are not in the text, they are the path of a section. Inline markup is gone: a link leaves its
// text, code its words.
//
// It does not read files and does not cut passages: package knowledge does. Start with File. A further format is one
// more file with a function that returns a Document, and one line in File; a format with pages fills Document.Pages.
package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"nightdesk/pipeline/knowledge/extract/pdf"
)

// The reasons for which a file yields no document.
var (
	ErrType     = errors.New("unknown type of file")
	ErrBinary   = errors.New("binary content")
	ErrEncoding = errors.New("bad encoding: the text is neither UTF-8 nor Windows-1252 nor what it declares; " +
		"convert it, for example with iconv -t utf8")
	ErrEmpty = errors.New("no text in it")
)

// Document is the text of one file.
type Document struct {
	Title     string   // empty when the file has none
	Authors   []string // as the file names them; at most 10
	Publisher string   // organisation, site or journal, as the file names it; empty = none
	// the day, month or year that the file gives for itself: YYYY-MM-DD, YYYY-MM or YYYY; empty = none
	Date     string
	Text     string    // the common form: valid UTF-8, "\n" line ends, no white space at either end
	Sections []Section // in order; the first begins at 0 and holds what stands before the first heading
	Terms    []Term    // terms that the file defines, in order
	Pages    []int     // byte of Text at which each page begins; nil = no pages
	Images   []Image   // of a page, in order
}

// Section is a part of the text below one heading; it ends where the next begins.
type Section struct {
	Path   []string // headings from the top down, with its own; without the document's title; empty at the top
	Anchor string   // fragment that leads to the heading, without #; empty = none
	Offset int      // byte in Document.Text; a heading without text of its own has the offset of the next section
}

// Term is the left side of a definition list: a function, a setting, a word of a glossary.
type Term struct {
	Text   string // as it stands in Document.Text at Offset
	Anchor string
	Offset int
}

// Type is a kind of file.
type Type string

// The kinds of files that can be read.
const (
	TypeHTML     Type = "html"
	TypeMarkdown Type = "markdown"
	TypeText     Type = "text"
	TypePDF      Type = "pdf"
	TypeDOCX     Type = "docx"
	TypePPTX     Type = "pptx"
	TypeEPUB     Type = "epub"
	TypeCSV      Type = "csv"
)

// Readable names the kinds of files for a person.
const Readable = "HTML, PDF, Word (.docx), PowerPoint (.pptx), EPUB, CSV, Markdown (.md) and text (.txt, .rst)"

// Extension returns the extension by which TypeOf knows the type.
func (t Type) Extension() string {
	switch t {
	case TypeMarkdown:
		return ".md"
	case TypeText:
		return ".txt"
	}
	return "." + string(t)
}

// media are the media types of the kinds of files.
var media = map[string]Type{
	"text/html": TypeHTML, "application/xhtml+xml": TypeHTML,
	"text/markdown": TypeMarkdown, "text/x-markdown": TypeMarkdown, "text/plain": TypeText,
	"application/pdf": TypePDF, "application/x-pdf": TypePDF,
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   TypeDOCX,
	"application/vnd.openxmlformats-officedocument.presentationml.presentation": TypePPTX,
	"application/epub+zip": TypeEPUB, "text/csv": TypeCSV, "text/tab-separated-values": TypeCSV,
}

// TypeOfMedia returns the type that a media type stands for, and false for one that stands for none of them.
func TypeOfMedia(kind string) (Type, bool) {
	t, ok := media[kind]
	return t, ok
}

// TypeOf returns the type that the name of a file stands for, and false for a name that stands for none of them.
func TypeOf(name string) (Type, bool) {
	base := path.Base(name)
	switch strings.ToLower(path.Ext(base)) {
	case ".html", ".htm", ".xhtml":
		return TypeHTML, true
	case ".md", ".markdown", ".mkd", ".mdx":
		return TypeMarkdown, true
	case ".txt", ".text", ".rst":
		return TypeText, true
	case ".pdf":
		return TypePDF, true
	case ".docx", ".docm", ".dotx":
		return TypeDOCX, true
	case ".pptx", ".pptm", ".ppsx":
		return TypePPTX, true
	case ".epub":
		return TypeEPUB, true
	case ".csv", ".tsv":
		return TypeCSV, true
	case "":
		switch strings.ToUpper(base) {
		case "README", "NEWS", "CHANGES", "CHANGELOG", "TODO", "FAQ", "INSTALL", "AUTHORS", "HISTORY", "CONTRIBUTING":
			return TypeText, true
		}
	}
	return "", false
}

// File extracts one file. name decides the type, unless the content is a PDF, Word, PowerPoint or EPUB file; data is
// the whole content. The error wraps ErrType, ErrBinary, ErrEncoding, ErrEmpty or a reason of PDF or DOCX, or is
// context.Cause(ctx). It never panics, whatever the content.
func File(ctx context.Context, name string, data []byte) (Document, error) {
	kind, ok := TypeOf(name)
	if !ok {
		return Document{}, fmt.Errorf("%w: %q", ErrType, path.Ext(name))
	}
	return Bytes(ctx, Sniff(kind, data), data, "")
}

// Sniff returns the type that the first bytes of data show, else kind.
func Sniff(kind Type, data []byte) Type {
	if bytes.HasPrefix(data, []byte("%PDF-")) || kind == TypeDOCX && pdf.IsPDF(data) {
		return TypePDF
	}
	if packed, ok := typeOfArchive(data); ok {
		return packed
	}
	return kind
}

// Bytes extracts content of a known type. contentType is the HTTP header that came with HTML, or empty.
// Errors as File.
func Bytes(ctx context.Context, kind Type, data []byte, contentType string) (doc Document, err error) {
	defer func() { // one broken file must not end the indexing of ten thousand
		if r := recover(); r != nil {
			doc, err = Document{}, fmt.Errorf("extract %s: internal error: %v", kind, r)
		}
	}()
	switch kind {
	case TypePDF:
		doc, err = PDF(ctx, data)
	case TypeDOCX:
		doc, err = DOCX(data)
	case TypePPTX:
		doc, err = PPTX(data)
	case TypeEPUB:
		doc, err = EPUB(data)
	default:
		doc, err = textual(kind, data, contentType)
	}
	if err == nil && doc.Text == "" {
		err = ErrEmpty
	}
	if err != nil {
		return Document{}, err
	}
	return doc, nil
}

// textual extracts what is text already.
func textual(kind Type, data []byte, contentType string) (doc Document, err error) {
	var text string
	if kind == TypeHTML {
		text, err = decodeHTML(data, contentType)
	} else {
		text, err = decodeText(data)
	}
	if err != nil {
		return Document{}, err
	}
	switch kind {
	case TypeHTML:
		doc = HTML(text)
	case TypeMarkdown:
		doc = Markdown(text)
	case TypeText:
		doc = plainText(text)
	case TypeCSV:
		doc = CSV(text)
	default:
		return Document{}, fmt.Errorf("%w: %q", ErrType, kind)
	}
	return doc, nil
}
