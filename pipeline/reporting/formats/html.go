package formats

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/text"
)

// StyleSheet is the style sheet of report pages, for reuse in other pages that show reports.
//
//go:embed report.css
var StyleSheet string

// HTML returns the report as a self-contained page. It loads and runs nothing, fits a phone and can be printed.
// Citations link to their references and back, and show source and passage on hover. Equal reports give equal bytes.
// The error wraps ErrTooLarge.
func HTML(r Report) ([]byte, error) {
	d, err := read(r)
	if err != nil {
		return nil, err
	}
	d.placeChecks()
	w := &page{d: d}
	w.head()
	w.contents()
	w.blocks(d.blocks, false)
	w.out.WriteString("</main>\n</body>\n</html>\n")
	return []byte(w.out.String()), nil
}

// page renders a document as HTML. All text goes through text, and all addresses go through attribute.
type page struct {
	d   *document
	out strings.Builder
}

func (w *page) text(s string) { w.out.WriteString(html.EscapeString(ordered.Replace(s))) }

func (w *page) attribute(name, value string) {
	w.out.WriteString(" " + name + `="` + html.EscapeString(ordered.Replace(value)) + `"`)
}

func (w *page) head() {
	sum := sha256.Sum256([]byte(StyleSheet))
	hash := base64.StdEncoding.EncodeToString(sum[:])
	w.out.WriteString("<!DOCTYPE html>\n<html")
	if w.d.Language != "" {
		w.attribute("lang", w.d.Language)
	}
	w.out.WriteString(">\n<head>\n<meta charset=\"utf-8\">\n" +
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'sha256-` + hash + `'; base-uri 'none'; form-action 'none'">` + "\n" +
		`<meta name="viewport" content="width=device-width, initial-scale=1">` + "\n" +
		`<meta name="referrer" content="no-referrer">` + "\n<title>")
	w.text(w.d.Title)
	w.out.WriteString("</title>\n<style>" + StyleSheet + "</style>\n</head>\n<body>\n<main>\n")
}

// fewSections is the maximum number of sections without a table of contents.
const fewSections = 3

// contents writes the title, the report's head and the table of contents.
func (w *page) contents() {
	before := 0
	if len(w.d.blocks) == 0 {
		return
	}
	if first := w.d.blocks[0]; first.kind == heading && first.level == 1 {
		before = 1
	}
	if before < len(w.d.blocks) && w.d.blocks[before].kind == quote {
		before++
	}
	w.blocks(w.d.blocks[:before], false)
	w.d.blocks = w.d.blocks[before:]
	w.legend()
	sections := w.d.headings(2)
	if len(sections) <= fewSections {
		return
	}
	w.out.WriteString("<nav>\n<ul>\n")
	for _, h := range sections {
		w.out.WriteString("<li><a")
		w.attribute("href", "#"+h.anchor)
		w.out.WriteString(">")
		w.text(plainText(h.runs))
		w.out.WriteString("</a></li>\n")
	}
	w.out.WriteString("</ul>\n</nav>\n")
}

// legend writes the controls to show new sentences and verdicts.
func (w *page) legend() {
	if len(w.d.News) > 0 && w.d.Words.News != "" {
		w.out.WriteString(`<p class="checks"><label><input type="checkbox" id="show-news"> `)
		w.text(w.d.Words.News)
		w.out.WriteString("</label></p>\n")
	}
	if len(w.d.Checks) == 0 || w.d.Words.Show == "" {
		return
	}
	w.out.WriteString(`<p class="checks"><label><input type="checkbox" id="show-checks"> `)
	w.text(w.d.Words.Show)
	w.out.WriteString("</label>")
	for _, v := range []Verdict{Confirmed, Conclusion, Unconfirmed, Unsupported} {
		word := map[Verdict]string{Confirmed: w.d.Words.Confirmed, Conclusion: w.d.Words.Conclusion,
			Unconfirmed: w.d.Words.Unconfirmed, Unsupported: w.d.Words.Unsupported}[v]
		if slices.ContainsFunc(w.d.Checks, func(c Check) bool { return c.Verdict == v }) {
			w.out.WriteString(` <span class="` + classes[v] + `">`)
			w.text(word)
			w.out.WriteString("</span>")
		}
	}
	w.out.WriteString("</p>\n")
}

// blocks writes blocks. tight: the first paragraph is a list item.
func (w *page) blocks(blocks []block, tight bool) {
	for i, b := range blocks {
		switch b.kind {
		case heading:
			tag := "h" + strconv.Itoa(b.level)
			w.out.WriteString("<" + tag)
			w.attribute("id", b.anchor)
			w.out.WriteString(">")
			w.runs(b.runs)
			w.out.WriteString("</" + tag + ">\n")
		case paragraph:
			w.paragraph(b, tight && i == 0)
		case code:
			w.out.WriteString("<pre><code>")
			w.text(b.text)
			w.out.WriteString("</code></pre>\n")
		case quote:
			w.out.WriteString("<blockquote>\n")
			w.blocks(b.blocks, false)
			w.out.WriteString("</blockquote>\n")
		case list:
			w.list(b)
		case table:
			w.table(b)
		case rule:
			w.out.WriteString("<hr>\n")
		}
	}
}

func (w *page) paragraph(b block, bare bool) {
	switch {
	case b.anchor != "":
		w.reference(b)
	case bare:
		w.runs(b.runs)
	default:
		w.out.WriteString("<p>")
		w.runs(b.runs)
		w.out.WriteString("</p>\n")
	}
}

// reference writes an entry of the references: the entry, links back to the citations, and its passages.
func (w *page) reference(b block) {
	w.out.WriteString(`<div class="ref"`)
	w.attribute("id", b.anchor)
	w.out.WriteString("><p>")
	w.runs(b.runs)
	for i, n := range w.d.cites[b.anchor] {
		label := strconv.Itoa(i + 1)
		if i == 0 {
			label = "↩\ufe0e" + label
		}
		w.out.WriteString(` <a class="back"`)
		w.attribute("href", "#cite-"+strconv.Itoa(n))
		w.out.WriteString(">" + label + "</a>")
	}
	w.out.WriteString("</p>\n")
	if passages := w.d.Notes[b.anchor].passages(); len(passages) > 0 {
		w.out.WriteString("<details><summary>")
		w.text("“" + text.Clip(passages[0].Quote, 60) + "”")
		w.out.WriteString("</summary>\n")
		for _, p := range passages {
			w.out.WriteString("<blockquote>")
			w.passage(p)
			w.out.WriteString("</blockquote>\n")
		}
		w.out.WriteString("</details>\n")
	}
	w.out.WriteString("</div>\n")
}

func (w *page) list(b block) {
	tag := "ul"
	if b.ordered {
		tag = "ol"
	}
	w.out.WriteString("<" + tag)
	if b.ordered && b.start != 1 {
		w.attribute("start", strconv.Itoa(b.start))
	}
	w.out.WriteString(">\n")
	for _, item := range b.items {
		w.out.WriteString("<li>")
		w.blocks(item, true)
		w.out.WriteString("</li>\n")
	}
	w.out.WriteString("</" + tag + ">\n")
}

func (w *page) table(b block) {
	w.out.WriteString(`<div class="wide"><table>` + "\n")
	for i, r := range b.rows {
		tag := "td"
		if i == 0 {
			tag = "th"
		}
		w.out.WriteString("<tr>")
		for _, c := range r {
			w.out.WriteString("<" + tag)
			if c.right {
				w.attribute("class", "right")
			}
			w.out.WriteString(">")
			w.runs(c.runs)
			w.out.WriteString("</" + tag + ">")
		}
		w.out.WriteString("</tr>\n")
	}
	w.out.WriteString("</table></div>\n")
}

// tags lists the HTML tags of styles, outermost first.
var tags = []struct {
	style style
	tag   string
}{{marked, "mark"}, {bold, "strong"}, {italic, "em"}, {struck, "del"}, {fixed, "code"}}

func (w *page) runs(runs []run) {
	for _, x := range runs {
		switch {
		case x.figure != nil:
			w.picture(*x.figure)
			continue
		case x.cited != "":
			w.citation(x)
			continue
		}
		if x.link == "" && x.style&fixed != 0 {
			x.link = w.d.Files[x.text]
		}
		if x.link != "" {
			w.out.WriteString("<a")
			w.attribute("href", x.link)
			w.out.WriteString(">")
		}
		w.styled(x)
		if x.link != "" {
			w.out.WriteString("</a>")
		}
		if x.broken {
			w.out.WriteString("<br>\n")
		}
	}
}

func (w *page) styled(x run) {
	class := classes[x.verdict]
	if x.news {
		class = strings.TrimSpace(class + " news")
	}
	if class != "" && strings.TrimSpace(x.text) != "" {
		w.out.WriteString(`<span class="` + class + `"`)
		if x.checked > 0 {
			w.attribute("data-sentence", strconv.Itoa(x.checked))
		}
		w.out.WriteString(">")
		defer w.out.WriteString("</span>")
	}
	for _, t := range tags {
		if x.style&t.style != 0 {
			w.out.WriteString("<" + t.tag + ">")
		}
	}
	w.text(x.text)
	for i := len(tags) - 1; i >= 0; i-- {
		if x.style&tags[i].style != 0 {
			w.out.WriteString("</" + tags[i].tag + ">")
		}
	}
}

// citation writes the link to a reference, with the source and the passage, which are shown on hover.
func (w *page) citation(x run) {
	id := "cite-" + strconv.Itoa(x.number)
	w.out.WriteString(`<span class="cite"><a`)
	w.attribute("id", id)
	w.attribute("href", "#"+x.cited)
	w.out.WriteString(">")
	w.styled(x)
	w.out.WriteString("</a>")
	if title := w.d.Notes[x.cited].Title; title != "" || x.passage.Quote != "" {
		w.out.WriteString(`<span class="note"><b>`)
		w.text(text.Clip(title, maxPassage))
		w.out.WriteString("</b>")
		if x.passage.Quote != "" {
			w.out.WriteString("<q>")
			w.passage(x.passage)
			w.out.WriteString("</q>")
		}
		w.out.WriteString("</span>")
	}
	w.out.WriteString("</span>")
}

// passage writes a passage with its context.
func (w *page) passage(p Passage) {
	if p.Before != "" {
		w.text(p.Before + " ")
	}
	w.out.WriteString("<strong>")
	w.text(p.Quote)
	w.out.WriteString("</strong>")
	if p.After != "" {
		w.text(" " + p.After)
	}
}

func (w *page) picture(f figure) {
	kind := "image/png"
	if f.svg {
		kind = "image/svg+xml"
	}
	w.out.WriteString("<img")
	w.attribute("alt", f.title)
	w.attribute("src", fmt.Sprintf("data:%s;base64,%s", kind, base64.StdEncoding.EncodeToString(f.body)))
	w.out.WriteString(">")
}
