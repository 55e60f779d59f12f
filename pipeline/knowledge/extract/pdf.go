package extract

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"strings"
	"time"

	"nightdesk/pipeline/knowledge/extract/pdf"
)

// Reasons why a PDF or Office file yields no document.
var (
	ErrEncrypted = errors.New("encrypted: save a copy without a password")
	ErrDamaged   = errors.New("damaged: open it and save it again")
	ErrNoText    = errors.New("no text layer: run OCR first (for example ocrmypdf)")
	ErrGarbled   = errors.New("its fonts do not say which letters they show: run OCR first (for example ocrmypdf " +
		"--force-ocr)")
	ErrTooLarge = errors.New("it is too large when unpacked: split it")
	errTooLong  = errors.New("reading it takes too long: split it or save it again")
)

// maxBookmarks is the maximum number of outline entries that are searched for in the text.
const maxBookmarks = 10_000

// pdfTime is the time limit for one PDF.
const pdfTime = 60 * time.Second

// PDF extracts a PDF file. Package pdf reads the words; this package determines their order, paragraphs, headings and
// tables. The error wraps one of the reasons above or is context.Cause(ctx).
func PDF(ctx context.Context, data []byte) (Document, error) {
	limited, cancel := context.WithTimeoutCause(ctx, pdfTime, errTooLong)
	defer cancel()
	file, err := pdf.Open(limited, data)
	if err != nil {
		return Document{}, pdfReason(err)
	}
	pages, err := file.Words()
	if err != nil {
		return Document{}, pdfReason(err)
	}
	return pdfDocument(limited, pages, file.Info())
}

func pdfReason(err error) error {
	for from, to := range map[error]error{
		pdf.ErrEncrypted: ErrEncrypted, pdf.ErrDamaged: ErrDamaged, pdf.ErrNotPDF: ErrDamaged, pdf.ErrTooLarge: ErrTooLarge,
	} {
		if errors.Is(err, from) {
			return fmt.Errorf("%w (%w)", to, err)
		}
	}
	return err
}

// pdfDocument builds a document from words.
func pdfDocument(ctx context.Context, pages []pdf.Page, info pdf.Info) (Document, error) {
	switch q := qualityOf(pages); {
	case q.unknown < 20 && (q.letters < 3*len(pages) || q.letters < 20):
		return Document{}, ErrNoText
	case !q.plausible():
		return Document{}, fmt.Errorf("%w; %s", ErrGarbled, q)
	}
	body := bodySize(pages)
	lines, heights := make([][]pdfLine, len(pages)), make([]float64, len(pages))
	for i, p := range pages {
		if ctx.Err() != nil {
			return Document{}, context.Cause(ctx)
		}
		lines[i], heights[i] = layout(p, i+1, body), p.Height
	}
	var all []pdfLine
	for _, l := range withoutRunning(lines, heights) {
		all = append(all, l...)
	}
	w := newPDFWriter(all, len(pages), body)
	said := infoStates(info)
	said.or(stated{title: largeTitle(all, body)})
	w.levels = headingLevels(all, body, info.Bookmarks[:min(len(info.Bookmarks), maxBookmarks)], said.title)
	w.skip = contentsLines(all, info.Bookmarks, w.levels)
	w.write()
	doc := w.b.document(said)
	doc.Pages = w.pages()
	return doc, nil
}

// bodySize returns the most frequent word height, weighted by word length.
func bodySize(pages []pdf.Page) float64 {
	weight := map[float64]int{}
	best, most := 10.0, 0
	for _, p := range pages {
		for _, w := range p.Words {
			if !w.Upright {
				continue
			}
			h := math.Round((w.Y1-w.Y0)*4) / 4
			if weight[h] += len(w.Text); weight[h] > most {
				best, most = h, weight[h]
			}
		}
	}
	return max(best, 1)
}

// infoStates returns the metadata of a file: its information dictionary, else its metadata packet.
func infoStates(info pdf.Info) stated {
	s := stated{title: fileTitle(info.Title), date: pdfDate(info.Created)}
	s.author(info.Author)
	s.or(xmp(info.Metadata))
	return s
}

// xmp reads the metadata packet of a file (XMP, ISO 16684): Dublin Core properties and the creation date. For a damaged
// packet it returns the values before the damage.
func xmp(packet []byte) (s stated) {
	_ = eachElement(packet, set("RDF"), func(e *element) {
		e.visit(func(k *element) bool {
			switch k.name {
			case "creator", "title", "publisher", "date", "CreateDate":
				for value := range k.texts() {
					s.field(k.name, value)
				}
				return false
			}
			s.field("date", k.attr["CreateDate"])
			return true
		})
	})
	s.title = fileTitle(s.title)
	return s
}

func pdfDate(created string) string {
	if len(created) < 8 {
		return ""
	}
	return date(created[:4] + "-" + created[4:6] + "-" + created[6:8])
}

var (
	titlePrefix = regexp.MustCompile(`(?i)^(?:microsoft (?:word|powerpoint|excel)|powerpoint presentation|writer|impress)\s*[-–]\s*`)
	noTitle     = regexp.MustCompile(`(?i)^(?:untitled.*|no title|title|titel|document\d*|dokument\d*|presentation\d*|slide \d+|powerpoint[- ]pr.sentation|\W*|[\d\W_]+)$`)
)

// fileTitle returns a cleaned metadata title, or "" for titles that programs generate, such as file names.
func fileTitle(t string) string {
	t = clean(foldPDF(titlePrefix.ReplaceAllString(t, "")))
	switch strings.ToLower(path.Ext(t)) {
	case ".doc", ".docx", ".dvi", ".tex", ".ps", ".pdf", ".eps", ".odt", ".rtf", ".ppt", ".pptx", ".xls", ".xlsx", ".indd",
		".qxd", ".fm", ".html", ".htm", ".txt":
		return ""
	}
	if noTitle.MatchString(t) || len(t) > 300 || !strings.ContainsAny(t, " ") && strings.ContainsAny(t, "_/\\") {
		return ""
	}
	return t
}
