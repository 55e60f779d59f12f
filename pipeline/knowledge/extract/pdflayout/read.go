// Package pdflayout extracts PDF files. Package pdf reads the words and their places; this package determines their
// order, paragraphs, headings and tables.
//
// The entry point is Read.
package pdflayout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nightdesk/pipeline/knowledge/extract/pdf"
	"nightdesk/pipeline/knowledge/extract/xmltree"

	"nightdesk/pipeline/knowledge/extract/document"
)

// Reasons why a PDF file yields no document.
var (
	ErrNoText  = errors.New("no text layer: run OCR first (for example ocrmypdf)")
	ErrGarbled = errors.New("its fonts do not say which letters they show: run OCR first (for example ocrmypdf " +
		"--force-ocr)")
	errTooLong = errors.New("reading it takes too long: split it or save it again")
)

// maxBookmarks is the maximum number of outline entries that are searched for in the text.
const maxBookmarks = 10_000

// maxTime is the time limit for one PDF.
const maxTime = 60 * time.Second

// Read extracts a PDF file. The error wraps one of the reasons above or is context.Cause(ctx).
func Read(ctx context.Context, data []byte) (document.Document, error) {
	limited, cancel := context.WithTimeoutCause(ctx, maxTime, errTooLong)
	defer cancel()
	file, err := pdf.Open(limited, data)
	if err != nil {
		return document.Document{}, reason(err)
	}
	pages, err := file.Words()
	if err != nil {
		return document.Document{}, reason(err)
	}
	return build(limited, pages, file.Info())
}

// reason wraps an error of package pdf in the corresponding one of package document.
func reason(err error) error {
	for from, to := range map[error]error{
		pdf.ErrEncrypted: document.ErrEncrypted, pdf.ErrTooLarge: document.ErrTooLarge,
		pdf.ErrDamaged: document.ErrDamaged, pdf.ErrNotPDF: document.ErrDamaged,
	} {
		if errors.Is(err, from) {
			return fmt.Errorf("%w (%w)", to, err)
		}
	}
	return err
}

// build builds a document from words.
func build(ctx context.Context, pages []pdf.Page, info pdf.Info) (document.Document, error) {
	switch q := qualityOf(pages); {
	case q.unknown < 20 && (q.runes == 0 || q.letters < len(pages) && pictured(pages)):
		return document.Document{}, ErrNoText
	case !q.plausible():
		return document.Document{}, fmt.Errorf("%w; %s", ErrGarbled, q)
	}
	parts := make([][]pdf.Page, len(pages))
	for i, p := range pages {
		parts[i] = directions(p)
	}
	body := bodySize(slices.Concat(parts...))
	lines, heights := make([][]textLine, len(pages)), make([]float64, len(pages))
	for i, p := range pages {
		if ctx.Err() != nil {
			return document.Document{}, context.Cause(ctx)
		}
		heights[i] = p.Height
		for _, part := range parts[i] {
			lines[i], heights[i] = append(lines[i], layout(part, i+1, body)...), part.Height
		}
	}
	var all []textLine
	for _, l := range withoutRunning(lines, heights) {
		all = append(all, l...)
	}
	w := newWriter(all, len(pages), body)
	said := infoStates(info)
	said.Or(document.Metadata{Title: largeTitle(all, body)})
	w.levels = headingLevels(all, body, info.Bookmarks[:min(len(info.Bookmarks), maxBookmarks)], said.Title)
	w.skip = contentsLines(all, info.Bookmarks, w.levels)
	w.write()
	starts := w.pages()
	first := w.b.Text()
	if len(pages) > 1 {
		first = first[:starts[1]]
	}
	printed := document.HeadLines(first) // beats what the file says of itself
	printed.Or(said)
	doc := w.b.Document(printed)
	doc.Pages = starts
	return doc, nil
}

func pictured(pages []pdf.Page) bool {
	return slices.ContainsFunc(pages, func(p pdf.Page) bool { return p.Pictures > 0 })
}

// bodySize returns the most frequent word height, weighted by word length.
func bodySize(pages []pdf.Page) float64 {
	var words []pdf.Word
	for _, p := range pages {
		words = append(words, p.Words...)
	}
	return max(commonHeight(words), 1)
}

// infoStates returns the metadata of a file: its information dictionary, else its metadata packet.
func infoStates(info pdf.Info) document.Metadata {
	s := document.Metadata{Title: document.FileTitle(fold(info.Title)), Date: createdOn(info)}
	s.AddAuthor(info.Author)
	s.Or(xmp(info.Metadata))
	s.OfFile = true
	return s
}

// xmp reads the metadata packet of a file (XMP, ISO 16684): Dublin Core properties and the creation date. For a damaged
// packet it returns the values before the damage.
func xmp(packet []byte) (s document.Metadata) {
	_ = xmltree.Each(packet, document.Set("RDF"), func(e *xmltree.Element) {
		e.Visit(func(k *xmltree.Element) bool {
			switch k.Name {
			case "creator", "title", "publisher", "date", "CreateDate":
				for value := range k.Texts() {
					s.Field(k.Name, value)
				}
				return false
			}
			s.Field("date", k.Attr["CreateDate"])
			return true
		})
	})
	s.Title = document.FileTitle(fold(s.Title))
	return s
}

// createdOn returns the date on which the file was created, or "".
func createdOn(info pdf.Info) string {
	created := info.Created
	if len(created) < 8 {
		return ""
	}
	return document.ParseDate(created[:4] + "-" + created[4:6] + "-" + created[6:8])
}
