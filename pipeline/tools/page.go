package tools

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/pipeline/sources"
	"nightdesk/pipeline/text"
	"nightdesk/pipeline/tools/fetch"
)

// page is what can be read of a page.
type page struct {
	title, date string // date: as topicqueue.Source has it
	by          knowledge.Byline
	text        string // headings as "## Heading", else as package extract writes it
	cut         int    // bytes of text that were left out at the end
	kind        sources.Page
	pictures    []Picture
}

// errTooLarge: more than is read of a page.
var errTooLarge = errors.New("too large")

// readPage extracts what was fetched. The error wraps errTooLarge or one of package extract, or is
// context.Cause(ctx). It never panics, whatever the content.
func readPage(ctx context.Context, r fetch.Response) (page, error) {
	kind, ok := extract.TypeOfMedia(r.Type)
	if !ok { // Accept does not let it through
		return page{}, fmt.Errorf("its content is of type %q", r.Type)
	}
	if kind = extract.Sniff(kind, r.Body); kind != extract.TypePDF && len(r.Body) > maxPageBytes {
		return page{}, errTooLarge
	}
	address, err := url.Parse(r.URL)
	if err != nil {
		return page{}, fmt.Errorf("its address cannot be read")
	}
	if kind == extract.TypeText && looksLikeHTML(r.Body) {
		kind = extract.TypeHTML
	}
	if named, ok := extract.TypeOf(address.Path); ok && kind == extract.TypeText && named == extract.TypeMarkdown {
		kind = named // servers of raw files call everything text/plain
	}
	doc, body, err := extractPage(ctx, kind, r)
	if err != nil {
		return page{}, err
	}
	p := page{title: doc.Title, by: knowledge.Byline{Authors: doc.Authors, Publisher: doc.Publisher}, date: doc.Date}
	var starts []int
	p.text, starts = withHeadings(doc)
	if kind == extract.TypeHTML {
		about := aboutPage(body)
		p.kind, p.date = about.kind, cmp.Or(p.date, about.firstTime)
	}
	if p.title == "" {
		p.title = cmp.Or(strings.Trim(path.Base(address.Path), "/."), address.Hostname())
	}
	p.title = short(p.title)
	if kind == extract.TypeHTML {
		if err := extract.InItsPlace(p.title, p.text, r.Body); err != nil {
			return page{}, err
		}
	}
	if len(p.text) > maxPageText {
		whole := len(p.text)
		p.text = text.Start(p.text, maxPageText)
		p.cut = whole - len(p.text)
	}
	p.pictures = picturesOf(doc.Images, starts, len(p.text), address)
	return p, nil
}

// extractPage extracts the document, in whatever encoding it is. It also returns the body that it could read.
func extractPage(ctx context.Context, kind extract.Type, r fetch.Response) (extract.Document, []byte, error) {
	body := r.Body
	if kind == extract.TypePDF {
		doc, err := extract.Bytes(ctx, kind, body, "")
		return doc, body, err
	}
	wide := bytes.HasPrefix(body, []byte{0xff, 0xfe}) || bytes.HasPrefix(body, []byte{0xfe, 0xff})
	if !wide && kind != extract.TypeHTML && !utf8.Valid(body) {
		body = recode(body, r.Charset)
	}
	if !wide { // browsers pass over NUL bytes
		body = bytes.ReplaceAll(body, []byte{0}, nil)
	}
	header := r.Header.Get("Content-Type")
	doc, err := extract.Bytes(ctx, kind, body, header)
	if errors.Is(err, extract.ErrEncoding) && kind == extract.TypeHTML { // the header lies; the page may know better
		doc, err = extract.Bytes(ctx, kind, body, "")
	}
	return doc, body, err
}

// recode returns text as UTF-8: of the encoding that the server names, else of windows-1252, as browsers read it.
func recode(body []byte, name string) []byte {
	encoding, _ := charset.Lookup(cmp.Or(name, "windows-1252"))
	if encoding == nil || strings.EqualFold(name, "utf-8") {
		encoding, _ = charset.Lookup("windows-1252")
	}
	out, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		return body
	}
	return out
}

func looksLikeHTML(body []byte) bool {
	return strings.HasPrefix(http.DetectContentType(body), "text/html")
}

// withHeadings returns the text of a document with its headings in it, and where in that its sections begin.
func withHeadings(doc extract.Document) (text string, starts []int) {
	var b strings.Builder
	end := 0
	for _, s := range doc.Sections {
		b.WriteString(doc.Text[end:s.Offset])
		end = s.Offset
		starts = append(starts, b.Len())
		if len(s.Path) == 0 {
			continue
		}
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n\n") {
			b.WriteString("\n\n")
		}
		b.WriteString(strings.Repeat("#", min(len(s.Path)+1, 6)) + " " + s.Path[len(s.Path)-1] + "\n\n")
	}
	b.WriteString(doc.Text[end:])
	text = strings.TrimSpace(b.String())
	cut := strings.Index(b.String(), text)
	for i := range starts {
		starts[i] = max(0, starts[i]-cut)
	}
	return text, starts
}

// wrapped finds an address within what a model may write around it.
var wrapped = regexp.MustCompile(`(?i)\bhttps?://[^\s<>"'` + "`" + `\x00-\x20\\]+`)

// bare is an address without its scheme.
var bare = regexp.MustCompile(`(?i)^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?$`)

// pageAddress returns the address that a model means, without fragment and credentials.
func pageAddress(query string) (string, bool) {
	query = strings.Trim(strings.TrimSpace(query), "<>\"'` ")
	address := wrapped.FindString(query)
	if address == "" && bare.MatchString(query) {
		address = "https://" + query
	}
	address = strings.TrimRight(address, ".,;:!*")
	for _, pair := range []string{"()", "[]", "{}"} { // of [title](address), not of .../Cache_(computing)
		for strings.HasSuffix(address, pair[1:]) && strings.Count(address, pair[1:]) > strings.Count(address, pair[:1]) {
			address = strings.TrimRight(strings.TrimSuffix(address, pair[1:]), ".,;")
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || len(address) > 2000 {
		return "", false
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	return u.String(), true
}

// short returns one line of at most 200 bytes.
func short(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if len(s) > 200 {
		return text.Start(s, 200) + "..."
	}
	return s
}
