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

// page renders a document as HTML. All text goes through text, and all addresses go through open.
type page struct {
	d   *document
	out strings.Builder
}

func (w *page) text(s string) { w.out.WriteString(html.EscapeString(ordered.Replace(s))) }

// open writes a start tag with attributes, given as name and value.
func (w *page) open(tag string, attributes ...string) {
	w.out.WriteString("<" + tag)
	for pair := range slices.Chunk(attributes, 2) {
		w.out.WriteString(" " + pair[0] + `="` + html.EscapeString(ordered.Replace(pair[1])) + `"`)
	}
	w.out.WriteString(">")
}

// shut writes an end tag. A block element ends its line.
func (w *page) shut(tag string) {
	w.out.WriteString("</" + tag + ">")
	if slices.Contains(blockTags, tag) {
		w.out.WriteString("\n")
	}
}

var blockTags = []string{
	"p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "tr", "details", "summary", "nav",
}

// element writes an element with text.
func (w *page) element(text, tag string, attributes ...string) {
	w.open(tag, attributes...)
	w.text(text)
	w.shut(tag)
}

func (w *page) head() {
	sum := sha256.Sum256([]byte(StyleSheet))
	w.out.WriteString("<!DOCTYPE html>\n")
	if w.d.Language != "" {
		w.open("html", "lang", w.d.Language)
	} else {
		w.open("html")
	}
	w.out.WriteString("\n<head>\n<meta charset=\"utf-8\">\n" +
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'sha256-` +
		base64.StdEncoding.EncodeToString(sum[:]) + `'; base-uri 'none'; form-action 'none'">` + "\n" +
		`<meta name="viewport" content="width=device-width, initial-scale=1">` + "\n" +
		`<meta name="referrer" content="no-referrer">` + "\n")
	w.element(w.d.Title, "title")
	w.out.WriteString("\n<style>" + StyleSheet + "</style>\n</head>\n<body>\n<main>\n")
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
		w.open("li")
		w.element(plainText(h.runs), "a", "href", "#"+h.anchor)
		w.shut("li")
	}
	w.shut("ul")
	w.shut("nav")
}

// legend writes the controls to show new sentences and verdicts.
func (w *page) legend() {
	words := w.d.Words
	if len(w.d.News) > 0 && words.News != "" {
		w.checkbox("show-news", words.News)
		w.shut("p")
	}
	if len(w.d.Checks) == 0 || words.Show == "" {
		return
	}
	w.checkbox("show-checks", words.Show)
	for _, v := range []struct {
		Verdict
		word string
	}{
		{Confirmed, words.Confirmed}, {Conclusion, words.Conclusion}, {Unconfirmed, words.Unconfirmed},
		{Unsupported, words.Unsupported},
	} {
		if slices.ContainsFunc(w.d.Checks, func(c Check) bool { return c.Verdict == v.Verdict }) {
			w.out.WriteString(" ")
			w.element(v.word, "span", "class", classes[v.Verdict])
		}
	}
	w.shut("p")
}

// checkbox opens a paragraph with a checkbox and its label.
func (w *page) checkbox(id, label string) {
	w.open("p", "class", "checks")
	w.open("label")
	w.open("input", "type", "checkbox", "id", id)
	w.text(" " + label)
	w.shut("label")
}

// blocks writes blocks. tight: the first paragraph is a list item.
func (w *page) blocks(blocks []block, tight bool) {
	for i, b := range blocks {
		switch b.kind {
		case heading:
			tag := "h" + strconv.Itoa(b.level)
			w.open(tag, "id", b.anchor)
			w.runs(b.runs)
			w.shut(tag)
		case paragraph:
			w.paragraph(b, tight && i == 0)
		case code:
			w.open("pre")
			w.element(b.text, "code")
			w.out.WriteString("</pre>\n")
		case quote:
			w.out.WriteString("<blockquote>\n")
			w.blocks(b.blocks, false)
			w.shut("blockquote")
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
		w.open("p")
		w.runs(b.runs)
		w.shut("p")
	}
}

// reference writes an entry of the references: the entry, links back to the citations, and its passages.
func (w *page) reference(b block) {
	w.open("div", "class", "ref", "id", b.anchor)
	w.open("p")
	w.runs(b.runs)
	for i, n := range w.d.cites[b.anchor] {
		label := strconv.Itoa(i + 1)
		if i == 0 {
			label = "↩\ufe0e" + label
		}
		w.out.WriteString(" ")
		w.element(label, "a", "class", "back", "href", "#cite-"+strconv.Itoa(n))
	}
	w.shut("p")
	if passages := w.d.Notes[b.anchor].passages(); len(passages) > 0 {
		w.open("details")
		w.element("“"+text.Clip(passages[0].Quote, 60)+"”", "summary")
		for _, p := range passages {
			w.open("blockquote")
			w.passage(p)
			w.shut("blockquote")
		}
		w.shut("details")
	}
	w.out.WriteString("</div>\n")
}

func (w *page) list(b block) {
	tag := "ul"
	if b.ordered {
		tag = "ol"
	}
	if b.ordered && b.start != 1 {
		w.open(tag, "start", strconv.Itoa(b.start))
	} else {
		w.open(tag)
	}
	w.out.WriteString("\n")
	for _, item := range b.items {
		w.open("li")
		w.blocks(item, true)
		w.shut("li")
	}
	w.shut(tag)
}

func (w *page) table(b block) {
	w.out.WriteString(`<div class="wide"><table>` + "\n")
	for i, r := range b.rows {
		tag := "td"
		if i == 0 {
			tag = "th"
		}
		w.open("tr")
		for _, c := range r {
			if c.right {
				w.open(tag, "class", "right")
			} else {
				w.open(tag)
			}
			w.runs(c.runs)
			w.shut(tag)
		}
		w.shut("tr")
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
			w.open("a", "href", x.link)
		}
		w.styled(x)
		if x.link != "" {
			w.shut("a")
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
		attributes := []string{"class", class}
		if x.checked > 0 {
			attributes = append(attributes, "data-sentence", strconv.Itoa(x.checked))
		}
		w.open("span", attributes...)
		defer w.shut("span")
	}
	for _, t := range tags {
		if x.style&t.style != 0 {
			w.open(t.tag)
			defer w.shut(t.tag)
		}
	}
	w.text(x.text)
}

// citation writes the link to a reference, with the source and the passage, which are shown on hover.
func (w *page) citation(x run) {
	w.open("span", "class", "cite")
	w.open("a", "id", "cite-"+strconv.Itoa(x.number), "href", "#"+x.cited)
	w.styled(x)
	w.shut("a")
	if title := w.d.Notes[x.cited].Title; title != "" || x.passage.Quote != "" {
		w.open("span", "class", "note")
		w.element(text.Clip(title, maxPassage), "b")
		if x.passage.Quote != "" {
			w.open("q")
			w.passage(x.passage)
			w.shut("q")
		}
		w.shut("span")
	}
	w.shut("span")
}

// passage writes a passage with its context.
func (w *page) passage(p Passage) {
	if p.Before != "" {
		w.text(p.Before + " ")
	}
	w.element(p.Quote, "strong")
	if p.After != "" {
		w.text(" " + p.After)
	}
}

func (w *page) picture(f figure) {
	kind := "image/png"
	if f.svg {
		kind = "image/svg+xml"
	}
	w.open("img", "alt", f.title,
		"src", fmt.Sprintf("data:%s;base64,%s", kind, base64.StdEncoding.EncodeToString(f.body)))
}
