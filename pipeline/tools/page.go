package tools

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/pipeline/sources"
	"nightdesk/pipeline/text"
	"nightdesk/pipeline/tools/fetch"
)

// page is the readable content of a page.
type page struct {
	title, date string // date: format of topicqueue.Source
	by          knowledge.Byline
	text        string // headings as "## Heading", otherwise as package extract writes it
	cut         int    // bytes cut off at the end of text
	kind        sources.Page
	pictures    []Picture
}

// errTooLarge means that a page has more than maxPageBytes.
var errTooLarge = fmt.Errorf("it is larger than %d MB", maxPageBytes>>20)

// readPage extracts a fetched page. The error wraps errTooLarge or an error of package extract, or is
// context.Cause(ctx). It never panics, whatever the content.
func readPage(ctx context.Context, r fetch.Response) (page, error) {
	kind, ok := extract.TypeOfMedia(r.Type)
	if !ok { // Accept excludes this
		return page{}, fmt.Errorf("its content is of type %q", r.Type)
	}
	if kind = extract.Sniff(kind, r.Body); kind != extract.TypePDF && len(r.Body) > maxPageBytes {
		return page{}, errTooLarge
	}
	address, err := url.Parse(r.URL)
	if err != nil {
		return page{}, fmt.Errorf("its address is invalid")
	}
	header := r.Header.Get("Content-Type")
	doc, err := extract.Sent(ctx, extract.SentName(address.Path, header, r.Body), header, r.Body)
	if err != nil {
		return page{}, err
	}
	p := page{title: doc.Title, by: knowledge.Byline{Authors: doc.Authors, Publisher: doc.Publisher}, date: doc.Date,
		kind: sources.Page(doc.About)}
	var starts []int
	p.text, starts = withHeadings(doc)
	if p.title == "" {
		p.title = cmp.Or(strings.Trim(path.Base(address.Path), "/."), address.Hostname())
	}
	p.title = short(p.title)
	if len(p.text) > maxPageText {
		whole := len(p.text)
		p.text = text.Start(p.text, maxPageText)
		p.cut = whole - len(p.text)
	}
	p.pictures = picturesOf(doc.Images, starts, len(p.text), address)
	return p, nil
}

// withHeadings returns the text of a document with its headings inserted, and the offset of each section in that text.
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

// wrapped matches an address inside the markup or text that a model may put around it.
var wrapped = regexp.MustCompile(`(?i)\bhttps?://[^\s<>"'` + "`" + `\x00-\x20\\]+`)

// bare matches an address without a scheme.
var bare = regexp.MustCompile(`(?i)^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?$`)

// pageAddress returns the address in a model's query, without fragment and credentials, or false if there is none.
func pageAddress(query string) (string, bool) {
	query = strings.Trim(strings.TrimSpace(query), "<>\"'` ")
	address := wrapped.FindString(query)
	if address == "" && bare.MatchString(query) {
		address = "https://" + query
	}
	address = strings.TrimRight(address, ".,;:!*")
	for _, pair := range []string{"()", "[]", "{}"} { // [title](address), but not .../Cache_(computing)
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

// short returns s on one line, cut to 200 bytes.
func short(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if len(s) > 200 {
		return text.Start(s, 200) + "..."
	}
	return s
}
