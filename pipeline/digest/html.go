package digest

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/url"
	"strings"
)

//go:embed digest.html
var htmlText string

// htmlTemplate shows a Digest. HTML replaces link.
var htmlTemplate = template.Must(template.New("digest").Funcs(template.FuncMap{
	"word": Word, "commands": commands, "link": func(string) string { return "" },
}).Parse(htmlText))

// HTML returns the digest as a self-contained page. It loads and runs nothing, and fits a phone. link: as for Markdown;
// absolute addresses must be http or https.
func (d Digest) HTML(link func(key string) string) ([]byte, error) {
	page, err := htmlTemplate.Clone()
	if err != nil {
		return nil, fmt.Errorf("create the page of the digest of batch %s: %w", d.Batch, err)
	}
	page.Funcs(template.FuncMap{"link": func(key string) string {
		if key == "" {
			return ""
		}
		return webAddress(link(key))
	}})
	var out bytes.Buffer
	if err := page.Execute(&out, d); err != nil {
		return nil, fmt.Errorf("create the page of the digest of batch %s: %w", d.Batch, err)
	}
	return out.Bytes(), nil
}

// commands returns advice as HTML. Commands are in backticks.
func commands(advice string) template.HTML {
	var b strings.Builder
	for n, piece := range strings.Split(template.HTMLEscapeString(advice), "`") {
		if n%2 == 1 {
			piece = "<code>" + piece + "</code>"
		}
		b.WriteString(piece)
	}
	return template.HTML(b.String())
}

// webAddress returns an address that is safe to link, or "".
func webAddress(address string) string {
	if u, err := url.Parse(address); err != nil || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return address
}
