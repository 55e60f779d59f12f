package tools

import (
	"bytes"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// about is what a page says of itself beside its text.
type about struct{ site, date string }

var (
	published = regexp.MustCompile(`"(datePublished|dateCreated|uploadDate)"\s*:\s*"(\d{4}-\d{2}-\d{2})`)
	startsDay = regexp.MustCompile(`^\s*(\d{4}-\d{2}-\d{2})`)
)

// maxLinked bounds the linked data that are looked at, in bytes.
const maxLinked = 256 << 10

// aboutPage reads the name of the site and the day of publication where a page gives them to search engines: meta elements, linked
// data, the first <time>.
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
			if linked && a.date == "" {
				text := z.Text()
				if m := published.FindSubmatch(text[:min(len(text), maxLinked)]); m != nil {
					a.date = string(m[2])
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
				case tag == "meta" && a.site == "" && strings.EqualFold(attr["property"], "og:site_name"):
					a.site = short(attr["content"])
				}
			}
		}
	}
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
