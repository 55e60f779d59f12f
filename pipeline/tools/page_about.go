package tools

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"nightdesk/pipeline/sources"
)

// about is metadata of a page that package extract does not read.
type about struct {
	firstTime string // date of its first <time>
	kind      sources.Page
}

var (
	schemaType = regexp.MustCompile(`"@type"\s*:\s*\[?\s*"([A-Za-z]{1,40})"`)
	startsDay  = regexp.MustCompile(`^\s*(\d{4}-\d{2}-\d{2})`)
)

// maxLinked is the maximum size of linked data to search, in bytes.
const maxLinked = 256 << 10

// aboutPage reads the kind of a page from its metadata for search engines: meta elements and linked data. It also reads
// the first <time>.
func aboutPage(page []byte) about {
	var a about
	linked := false // the next text token is linked data
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return a
		case html.TextToken:
			if linked {
				text := z.Text()
				text = text[:min(len(text), maxLinked)]
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
				case tag == "time" && a.firstTime == "":
					if m := startsDay.FindStringSubmatch(attr["datetime"]); m != nil {
						a.firstTime = m[1]
					}
				case tag == "meta":
					a.meta(attr)
				}
			}
		}
	}
}

// meta records the content of one meta element.
func (a *about) meta(attr map[string]string) {
	content := short(attr["content"])
	switch name := strings.ToLower(cmp.Or(attr["property"], attr["name"])); {
	case name == "og:type" && a.kind.Type == "":
		a.kind.Type = content
	case name == "generator" && a.kind.Generator == "":
		a.kind.Generator = content
	case name == "citation_title" || name == "citation_doi":
		a.kind.Paper = true
	}
}

// everyPage lists types of linked data that occur on all kinds of pages.
var everyPage = map[string]bool{
	"WebSite": true, "WebPage": true, "Organization": true, "Person": true, "BreadcrumbList": true, "ListItem": true,
	"ImageObject":  true,
	"SearchAction": true, "EntryPoint": true, "NewsMediaOrganization": true, "Article": true, "VideoObject": true,
	"Corporation":           true,
	"SiteNavigationElement": true, "Comment": true, "Rating": true, "Offer": true, "Brand": true, "Product": true,
	"Question": true, "Answer": true,
}

// mainType returns the first type in linked data that distinguishes kinds of pages. It ignores products and videos,
// because pages of all kinds have them.
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
