// Package extract converts Markdown, HTML, plain text, CSV, PDF, EPUB and office files to a common text form, a
// Document.
//
// In the common form, paragraphs are separated by blank lines, and each paragraph is one line, with hard line breaks
// joined. List items begin with "- " or "1. " and occupy one line each. Code is kept verbatim between ``` fences; table
// rows have the form "| a | b |". Headings are stored as section paths, not in the text. Inline markup is removed; only
// the text of links and code remains.
//
// Package knowledge reads the files and cuts passages. The entry point is File. The formats are in packages of their
// own: webpage (HTML), office (Word, PowerPoint, Excel, ODT, RTF, EPUB) and pdflayout (PDF); text, Markdown, CSV and
// e-mail are here. Package document has the Builder that they write with. To add a format, write a function that
// returns a Document and call it in Bytes; formats with pages set Document.Pages.
package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"

	"nightdesk/pipeline/knowledge/extract/charset"
	"nightdesk/pipeline/knowledge/extract/document"
	"nightdesk/pipeline/knowledge/extract/office"
	"nightdesk/pipeline/knowledge/extract/pdf"
	"nightdesk/pipeline/knowledge/extract/pdflayout"
	"nightdesk/pipeline/knowledge/extract/webpage"
)

// Reasons why a file yields no document.
var (
	ErrType      = errors.New("unknown type of file")
	ErrBinary    = charset.ErrBinary
	ErrEncoding  = charset.ErrEncoding
	ErrEmpty     = document.ErrEmpty
	ErrEncrypted = document.ErrEncrypted
	ErrDamaged   = document.ErrDamaged
	ErrTooLarge  = document.ErrTooLarge
	ErrNoText    = pdflayout.ErrNoText
	ErrGarbled   = pdflayout.ErrGarbled
)

// The common form.
type (
	Document = document.Document
	Section  = document.Section
	Term     = document.Term
	Image    = document.Image
)

// Type is a file type.
type Type string

// The supported file types.
const (
	TypeHTML     Type = "html"
	TypeMarkdown Type = "markdown"
	TypeText     Type = "text"
	TypePDF      Type = "pdf"
	TypeDOCX     Type = "docx"
	TypePPTX     Type = "pptx"
	TypeXLSX     Type = "xlsx"
	TypeODT      Type = "odt"
	TypeRTF      Type = "rtf"
	TypeEPUB     Type = "epub"
	TypeEML      Type = "eml"
	TypeCSV      Type = "csv"
)

// Readable lists the supported file types for messages.
const Readable = "HTML, PDF, Word (.docx), PowerPoint (.pptx), Excel (.xlsx), OpenDocument (.odt), RTF, " +
	"EPUB, e-mail (.eml), CSV, Markdown (.md) and text (.txt, .rst)"

// types lists the names of each type: extensions of file names, the usual one first, and media types.
var types = map[Type][]string{
	TypeHTML:     {".html", ".htm", ".xhtml", "text/html", "application/xhtml+xml"},
	TypeMarkdown: {".md", ".markdown", ".mkd", ".mdx", "text/markdown", "text/x-markdown"},
	TypeText:     {".txt", ".text", ".rst", "text/plain"},
	TypePDF:      {".pdf", "application/pdf", "application/x-pdf"},
	TypeDOCX: {".docx", ".docm", ".dotx",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	TypePPTX: {".pptx", ".pptm", ".ppsx",
		"application/vnd.openxmlformats-officedocument.presentationml.presentation"},
	TypeXLSX: {".xlsx", ".xlsm", ".xltx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	TypeRTF:  {".rtf", "application/rtf", "text/rtf", "application/x-rtf"},
	TypeODT:  {".odt", ".ott", "application/vnd.oasis.opendocument.text"},
	TypeEPUB: {".epub", "application/epub+zip"},
	TypeEML:  {".eml", ".mht", ".mhtml", "message/rfc822", "multipart/related"},
	TypeCSV:  {".csv", ".tsv", "text/csv", "text/tab-separated-values"},
}

// plainNames are files without an extension that are text.
var plainNames = document.Set("README NEWS CHANGES CHANGELOG TODO FAQ INSTALL AUTHORS HISTORY CONTRIBUTING")

// Extension returns the file name extension that TypeOf maps to the type.
func (t Type) Extension() string { return types[t][0] }

// TypeOfMedia returns the file type for a media type, or false if it is not supported.
func TypeOfMedia(kind string) (Type, bool) {
	for t, names := range types {
		if slices.Contains(names, kind) {
			return t, true
		}
	}
	return "", false
}

// TypeOf returns the file type for a file name, or false if it is not supported.
func TypeOf(name string) (Type, bool) {
	base := path.Base(name)
	if extension := path.Ext(base); extension != "" {
		return TypeOfMedia(strings.ToLower(extension))
	}
	if plainNames[strings.ToUpper(base)] {
		return TypeText, true
	}
	return "", false
}

// File extracts one file. The type is derived from name, unless data is a PDF, EPUB or office file; data is the whole
// content. The error wraps ErrType, ErrBinary, ErrEncoding, ErrEmpty or an error of PDF or DOCX, or is
// context.Cause(ctx). File never panics.
func File(ctx context.Context, name string, data []byte) (Document, error) {
	kind, ok := TypeOf(name)
	if !ok {
		return Document{}, fmt.Errorf("%w: %q", ErrType, path.Ext(name))
	}
	return Bytes(ctx, Sniff(kind, data), data, "")
}

// Sniff returns the type indicated by the start of data, or kind if it is inconclusive.
func Sniff(kind Type, data []byte) Type {
	if bytes.HasPrefix(data, []byte("%PDF-")) || kind == TypeDOCX && pdf.IsPDF(data) {
		return TypePDF
	}
	if office.IsRTF(data) {
		return TypeRTF
	}
	if packed, ok := office.TypeOf(data); ok {
		return Type(packed)
	}
	return kind
}

// SentName returns a file name, whose extension is of the right type, for what a server sent from an address with this
// path and with this Content-Type header, if any. The header takes precedence over the path, except that servers of raw
// files send text/plain for every type.
func SentName(sent, contentType string, data []byte) string {
	if contentType == "" {
		contentType = http.DetectContentType(data)
	}
	base := path.Base("/" + sent)
	media, _, _ := mime.ParseMediaType(contentType)
	named, isNamed := TypeOf(base)
	said, ok := TypeOfMedia(media)
	extension := path.Ext(base)
	switch {
	case said == TypeText && !isNamed && looksLikeHTML(data):
		said = TypeHTML
	case said == TypeText && isNamed, ok && said == named:
		return base
	case !ok && len(extension) > 1 && len(extension) <= 5:
		return base
	case !ok:
		said, extension = TypeHTML, ""
	}
	return strings.TrimSuffix(base, extension) + said.Extension()
}

func looksLikeHTML(data []byte) bool {
	return strings.HasPrefix(http.DetectContentType(data), "text/html")
}

// Sent extracts what a server sent. name is that of SentName. The error is as for File, or wraps a notice: see
// InItsPlace.
func Sent(ctx context.Context, name, contentType string, data []byte) (Document, error) {
	kind, ok := TypeOf(name)
	if !ok {
		return Document{}, fmt.Errorf("%w: %q", ErrType, path.Ext(name))
	}
	kind = Sniff(kind, data)
	if (kind == TypeHTML || kind == TypeText || kind == TypeMarkdown) && !charset.Wide(data) {
		data = bytes.ReplaceAll(data, []byte{0}, nil) // as browsers do
	}
	doc, err := Bytes(ctx, kind, data, contentType)
	if kind != TypeHTML {
		return doc, err
	}
	if len(doc.Text) < longestNotice {
		if moved := webpage.ForwardsTo(string(data)); moved != "" {
			return Document{}, fmt.Errorf("%w: %.200q", ErrForwards, moved)
		}
	}
	if err == nil {
		err = InItsPlace(doc.Title, doc.Text, data)
	}
	return doc, err
}

// Bytes extracts content of a known type. contentType is the HTTP Content-Type header, or empty. Errors are as for
// File.
func Bytes(ctx context.Context, kind Type, data []byte, contentType string) (doc Document, err error) {
	defer func() { // one broken file must not stop the indexing of ten thousand
		if r := recover(); r != nil {
			doc, err = Document{}, fmt.Errorf("extract %s: internal error: %v", kind, r)
		}
	}()
	return read(ctx, kind, data, contentType, new(int))
}

// maxInner is the maximum number of documents in a document, at any depth.
const maxInner = 50

// read extracts content of a known type. inside counts the documents that were read in it.
func read(ctx context.Context, kind Type, data []byte, contentType string, inside *int) (doc Document, err error) {
	inner := func(name, mediaType string, data []byte) (Document, error) {
		media, _, _ := mime.ParseMediaType(mediaType)
		kind, ok := TypeOf(name)
		if named, known := TypeOfMedia(media); known {
			kind, ok = named, true
		}
		if *inside++; *inside > maxInner || !ok {
			return Document{}, ErrType
		}
		return read(ctx, Sniff(kind, data), data, mediaType, inside)
	}
	switch kind {
	case TypePDF:
		doc, err = pdflayout.Read(ctx, data)
	case TypeDOCX:
		doc, err = office.DOCX(data, inner)
	case TypePPTX:
		doc, err = office.PPTX(data, inner)
	case TypeXLSX:
		doc, err = office.XLSX(data)
	case TypeEML:
		doc, err = email(data, inner)
	case TypeRTF:
		doc, err = office.RTF(data)
	case TypeODT:
		doc, err = office.ODT(data)
	case TypeEPUB:
		doc, err = office.EPUB(data)
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

// textual extracts text-based formats.
func textual(kind Type, data []byte, contentType string) (doc Document, err error) {
	text, err := charset.Decode(data, contentType, kind == TypeHTML)
	if err != nil {
		return Document{}, err
	}
	switch kind {
	case TypeHTML:
		doc = webpage.Read(text)
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

// HTML extracts a page. page is UTF-8 and may be malformed; the result is empty if the page has no text.
func HTML(page string) Document { return webpage.Read(page) }
