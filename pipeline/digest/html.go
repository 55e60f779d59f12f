package digest

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"nightdesk/topicqueue"
)

//go:embed digest.html
var htmlText string

var htmlTemplate = template.Must(template.New("digest").Parse(htmlText))

// Parts of the page.
type (
	htmlPage struct {
		Digest
		First    []htmlItem
		Sections []htmlSection
		Reports  []htmlRef
		More     int // reports not listed
	}
	htmlSection struct {
		Title string
		Items []htmlItem
		More  int
	}
	htmlItem struct {
		Kind, Word, Text string
		Sides            []string
		Do               []htmlSpan
		Runs             []htmlRef
		More             int
	}
	htmlRef struct {
		State     topicqueue.RunState
		Name, URL string
		Audio     string
	}
	htmlSpan struct {
		Text string
		Code bool
	}
)

// HTML returns the digest as a self-contained page. It loads and runs nothing, and fits a phone. link: as for Markdown;
// absolute addresses must be http or https.
func (d Digest) HTML(link func(key string) string) ([]byte, error) {
	page := htmlPage{Digest: d, First: htmlItems(d.First, link), Reports: htmlRefs(d.Reports, false, link), More: d.Runs -
		len(d.Reports)}
	for _, s := range d.Sections() {
		page.Sections = append(page.Sections, htmlSection{s.Title, htmlItems(s.Items, link), s.More})
	}
	var out bytes.Buffer
	if err := htmlTemplate.Execute(&out, page); err != nil {
		return nil, fmt.Errorf("create the page of the digest of batch %s: %w", d.Batch, err)
	}
	return out.Bytes(), nil
}

func htmlItems(items []Item, link func(string) string) []htmlItem {
	var out []htmlItem
	for _, i := range items {
		h := htmlItem{Kind: i.Kind, Word: Word(i.Kind), Text: i.Text, Sides: i.Sides,
			Runs: htmlRefs(i.Runs, len(i.Runs) > 1, link), More: i.Count - len(i.Runs)}
		for n, piece := range strings.Split(i.Do, "`") { // commands are in backticks
			if piece != "" {
				h.Do = append(h.Do, htmlSpan{piece, n%2 == 1})
			}
		}
		out = append(out, h)
	}
	return out
}

func htmlRefs(refs []Ref, short bool, link func(string) string) []htmlRef {
	var out []htmlRef
	for _, r := range refs {
		h := htmlRef{State: r.State, Name: r.Name(short)}
		if at := cmp.Or(r.Page, r.Report); at != "" {
			h.URL = webAddress(link(at))
		}
		if r.Audio != "" {
			h.Audio = webAddress(link(r.Audio))
		}
		out = append(out, h)
	}
	return out
}

// webAddress returns an address that is safe to link, or "".
func webAddress(address string) string {
	if u, err := url.Parse(address); err != nil || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return address
}
