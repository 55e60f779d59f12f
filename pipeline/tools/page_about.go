package tools

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"nightdesk/pipeline/sources"
)

// about is what a page says of itself beside its text.
type about struct {
	site, date string
	kind       sources.Page
}

var (
	schemaType = regexp.MustCompile(`"@type"\s*:\s*\[?\s*"([A-Za-z]{1,40})"`)
	published  = regexp.MustCompile(`"(datePublished|dateCreated|uploadDate)"\s*:\s*"(\d{4}-\d{2}-\d{2})`)
	startsDay  = regexp.MustCompile(`^\s*(\d{4}-\d{2}-\d{2})`)
)

// maxLinked bounds the linked data that are looked at, in bytes.
const maxLinked = 256 << 10

// aboutPage reads the name of the site, the day of publication and the kind of page where a page gives them to search
// engines: meta elements, linked data, the first <time>.
func aboutPage(page []byte) about {
	var a about
	var firstTime string
	linked := false // the next text is linked data
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if a.date == "" {
				a.date = firstTime
			}
			return a
		case html.TextToken:
			if linked {
				text := z.Text()
				text = text[:min(len(text), maxLinked)]
				if m := published.FindSubmatch(text); m != nil && a.date == "" {
					a.date = string(m[2])
				}
				if a.kind.Schema == "" {
					a.kind.Schema = mainType(text)
				}
			}
			linked = false
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			if tag := string(name); tag == "meta" || tag == "script" || tag == "time" {
				attr := attributes(z, more)
				switch {
				case tag == "script":
					linked = strings.EqualFold(attr["type"], "application/ld+json")
				case tag == "time" && firstTime == "":
					if m := startsDay.FindStringSubmatch(attr["datetime"]); m != nil {
						firstTime = m[1]
					}
				case tag == "meta":
					a.meta(attr)
				}
			}
		}
	}
}

// meta takes over what one meta element says.
func (a *about) meta(attr map[string]string) {
	content := short(attr["content"])
	switch name := strings.ToLower(cmp.Or(attr["property"], attr["name"])); {
	case name == "og:site_name" && a.site == "":
		a.site = content
	case name == "og:type" && a.kind.Type == "":
		a.kind.Type = content
	case name == "generator" && a.kind.Generator == "":
		a.kind.Generator = content
	case name == "citation_title" || name == "citation_doi":
		a.kind.Paper = true
	}
}

// everyPage are types of linked data that every kind of page has.
var everyPage = map[string]bool{
	"WebSite": true, "WebPage": true, "Organization": true, "Person": true, "BreadcrumbList": true, "ListItem": true,
	"ImageObject":  true,
	"SearchAction": true, "EntryPoint": true, "NewsMediaOrganization": true, "Article": true, "VideoObject": true,
	"Corporation":           true,
	"SiteNavigationElement": true, "Comment": true, "Rating": true, "Offer": true, "Brand": true, "Product": true,
	"Question": true, "Answer": true,
}

// mainType returns the first type in linked data that tells one kind of page from others. Products and films stand on
// pages of all kinds.
func mainType(linked []byte) string {
	for _, m := range schemaType.FindAllSubmatch(linked, 50) {
		if !everyPage[string(m[1])] {
			return string(m[1])
		}
	}
	return ""
}

func attributes(z *html.Tokenizer, more bool) map[string]string {
	attr := map[string]string{}
	for more {
		var k, v []byte
		k, v, more = z.TagAttr()
		attr[string(k)] = string(v)
	}
	return attr
}
