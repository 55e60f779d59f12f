package formats_test

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/formats"
)

// allowed are the elements of a page and their attributes.
var allowed = map[string][]string{
	"html": {"lang"}, "head": nil, "meta": {"charset", "http-equiv", "content", "name"}, "title": nil, "style": nil, "body": nil, "main": nil, "nav": nil,
	"h1": {"id"}, "h2": {"id"}, "h3": {"id"}, "h4": {"id"}, "h5": {"id"}, "h6": {"id"}, "p": nil, "div": {"class", "id"}, "ul": nil, "ol": {"start"}, "li": nil,
	"pre": nil, "code": nil, "blockquote": nil, "table": nil, "tbody": nil, "tr": nil, "th": {"class"}, "td": {"class"}, "hr": nil, "br": nil,
	"a": {"class", "href", "id"}, "span": {"class"}, "b": nil, "q": nil, "strong": nil, "em": nil, "del": nil, "mark": nil, "img": {"alt", "src"}, "details": nil, "summary": nil,
}

// checkPage fails unless a page has nothing but what the desk writes.
func checkPage(t *testing.T, page []byte) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	ids, links := map[string]bool{}, []string{}
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.CommentNode {
			t.Errorf("a comment: %s", n.Data)
		}
		if n.Type == html.ElementNode {
			attributes, known := allowed[n.Data]
			if !known {
				t.Errorf("an element <%s>", n.Data)
			}
			for _, a := range n.Attr {
				if !slices.Contains(attributes, a.Key) {
					t.Errorf("<%s> has %s=%q", n.Data, a.Key, a.Val)
				}
				switch a.Key {
				case "id":
					if ids[a.Val] {
						t.Errorf("the id %s is there twice", a.Val)
					}
					ids[a.Val] = true
				case "href":
					links = append(links, a.Val)
				case "src":
					if !strings.HasPrefix(a.Val, "data:image/png;base64,") && !strings.HasPrefix(a.Val, "data:image/svg+xml;base64,") {
						t.Errorf("a picture from %s", a.Val)
					}
				}
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	for _, link := range links {
		if strings.HasPrefix(link, "file:///docs/") { // of a document that was handed in, and of no Markdown
			continue
		}
		if anchor, inside := strings.CutPrefix(link, "#"); inside {
			if !ids[anchor] {
				t.Errorf("a link to #%s, which is not there", anchor)
			}
			continue
		}
		if !strings.HasPrefix(link, "../cache/") {
			checkAddress(t, link)
		}
	}
}

func checkAddress(t *testing.T, address string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || !slices.Contains([]string{"http", "https", "mailto"}, u.Scheme) || u.User != nil {
		t.Errorf("a link to %q", address)
	}
}

// checkDocument fails unless a document is whole: parts of well-formed XML, links to what is there. It returns the parts.
func checkDocument(t *testing.T, body []byte) map[string]string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		parts[f.Name] = string(content)
	}
	bookmarks, anchors, used, given := map[string]bool{}, []string{}, map[string]bool{}, map[string]bool{}
	for name := range maps.Keys(parts) {
		if strings.Contains(name, "media/") {
			continue
		}
		d := xml.NewDecoder(strings.NewReader(parts[name]))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			e, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			values := map[string]string{}
			for _, a := range e.Attr {
				values[a.Name.Local] = a.Value
			}
			switch e.Name.Local {
			case "bookmarkStart":
				if bookmarks[values["name"]] || len(values["name"]) > 40 {
					t.Errorf("bookmark %s", values["name"])
				}
				bookmarks[values["name"]] = true
			case "hyperlink":
				if values["anchor"] != "" {
					anchors = append(anchors, values["anchor"])
				} else {
					used[values["id"]] = true
				}
			case "blip":
				used[values["embed"]] = true
			case "Relationship":
				given[values["Id"]] = true
				if values["TargetMode"] == "External" {
					checkAddress(t, values["Target"])
				} else if name == "word/_rels/document.xml.rels" && parts["word/"+values["Target"]] == "" {
					t.Errorf("a relation to %s, which is not there", values["Target"])
				}
			}
		}
	}
	for _, a := range anchors {
		if !bookmarks[a] {
			t.Errorf("a link to the bookmark %s, which is not there", a)
		}
	}
	for id := range used {
		if !given[id] {
			t.Errorf("a relation %q that is not there", id)
		}
	}
	return parts
}

// hostile is text that pages call themselves, to become more than text.
var hostile = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `[click](javascript:alert(1))`, `[click](JaVaScRiPt&colon;alert(1))`,
	`[x](data:text/html;base64,PHNjcmlwdD4=)`, `![x](https://evil.example/pixel.png)`, `![x](../../../../etc/passwd)`, `<javascript:alert(1)>`, `[x](vbscript:x "t")`,
	`</style><script>x</script>`, `<a id="ref-cit-1-01"></a> taken`, `<a id="ref-x" onclick="x">y</a>`, `[x]: javascript:alert(1)`, "`</code><script>`",
	"a|b\n|-|-|\n|<b>|`x|y`|", "<!-- --><iframe src=//evil.example></iframe>", `[x](//evil.example/y)`, `[x](file:///etc/passwd)`, "&lt;script&gt;&#x3c;script&#62;", `]]></w:t><w:instrText>`,
	"\x00\x01\x1b\uFFFE", `[x](http://a.example/"onmouseover="x)`, "[[CIT-9-09](#ref-cit-9-09)]", `[x](https://user:pass@evil.example)`, "[x](\tjava\nscript:alert(1))", `[x](https://bank.example@evil.example/)`, "a \u202egpj.exe\u202c \u2067b\u2069", `<https://evil.example/"><script>>`,
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	const frame = "# %[1]s\n\nText [[CIT-1-01](#ref-cit-1-01)].\n\n## %[1]s\n\n- **%[1]s**: x\n\n| %[1]s | x |\n|---|---|\n| x | [%[1]s](https://example.org/a) |\n\n![%[1]s](../cache/run/figures/x.svg)\n\n<a id=\"ref-cit-1-01\"></a> [CIT-1-01] web_search: %[1]s  \n[%[1]s](https://example.org/)\n"
	for i, text := range hostile {
		for name, shown := range map[string]string{"raw": text, "escaped": markdown.Escape(text)} {
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				t.Parallel()
				r := formats.Report{Tree: report.Read(fmt.Sprintf(frame, shown)), Title: text, Language: text, Notes: map[string]formats.Note{"ref-cit-1-01": {Title: text, Passages: []formats.Passage{{Quote: text, Before: text, After: text}, {Quote: "b " + text}}}}}
				page, document := made(t, r)
				checkPage(t, page)
				parts := checkDocument(t, document)
				for where, made := range map[string]string{"page": string(page), "document": parts["word/document.xml"], "title": parts["docProps/core.xml"]} {
					if strings.ContainsAny(made, "\u202e\u2067") {
						t.Errorf("the %s turns the order of text", where)
					}
				}
				if name == "escaped" && strings.Count(parts["word/document.xml"], "<w:pStyle w:val=\"Heading1\"/>") != 1 {
					t.Errorf("%d titles", strings.Count(parts["word/document.xml"], "<w:pStyle w:val=\"Heading1\"/>"))
				}
			})
		}
	}
}

func made(t testing.TB, r formats.Report) (page, document []byte) {
	t.Helper()
	page, err := formats.HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	if document, err = formats.DOCX(r); err != nil {
		t.Fatal(err)
	}
	return page, document
}

func FuzzFormats(f *testing.F) {
	f.Add(written)
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, markdown string) {
		r := formats.Report{Tree: report.Read(markdown), Title: markdown, Notes: map[string]formats.Note{"ref-cit-1-01": {Title: markdown, Passages: []formats.Passage{{Quote: markdown}}}}}
		page, err := formats.HTML(r)
		if errors.Is(err, formats.ErrTooLarge) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkPage(t, page)
		document, err := formats.DOCX(r)
		if err != nil {
			t.Fatal(err)
		}
		checkDocument(t, document)
		again, err := formats.DOCX(r)
		if err != nil || !bytes.Equal(document, again) {
			t.Error("the same report gives another document")
		}
	})
}
