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

	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// StyleSheet is the style sheet of report pages, for reuse in other pages that show reports.
//
//go:embed report.css
var StyleSheet string

// HTML returns the report as a self-contained page. It loads and runs nothing, fits a phone and can be printed.
// Citations link to their references and back, and show source and passage on hover. Equal reports give equal bytes.
// The error wraps ErrTooLarge.
func HTML(r Report) ([]byte, error) {
	d, err := newDocument(r)
	if err != nil {
		return nil, err
	}
	w := &page{d: d}
	w.head()
	w.sections()
	w.references()
	w.out.WriteString("</main>\n</body>\n</html>\n")
	return []byte(w.out.String()), nil
}

// page renders a document as HTML. All text goes through text, and all addresses go through open.
type page struct {
	d   *document
	out strings.Builder
}

func (w *page) text(s string) { w.out.WriteString(html.EscapeString(ordered(s))) }

// open writes a start tag with attributes, given as name and value.
func (w *page) open(tag string, attributes ...string) {
	w.out.WriteString("<" + tag)
	for pair := range slices.Chunk(attributes, 2) {
		w.out.WriteString(" " + pair[0] + `="` + html.EscapeString(ordered(pair[1])) + `"`)
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

// sections writes title, answer, status, contents and sections.
func (w *page) sections() {
	if title := w.d.Tree.Title; title != "" {
		w.element(title, "h1")
	}
	listed := false
	for i, s := range w.d.Tree.Sections {
		if s.Title != "" && !listed && s.Role != report.RoleChanges {
			w.contents()
			listed = true
		}
		if s.Title != "" {
			w.element(s.Title, "h2", "id", place(i))
		}
		w.blocks(s.Blocks, false)
		switch s.Role {
		case report.RoleChanges:
			w.out.WriteString("<hr>\n")
		case report.RoleAnswer:
			w.lines("blockquote", w.d.Tree.Status)
			w.legend()
		}
	}
}

// place returns the anchor of a section.
func place(section int) string { return "part-" + strconv.Itoa(section+1) }

// lines writes lines of inline Markdown as one block.
func (w *page) lines(tag string, lines []string) {
	if len(lines) == 0 {
		return
	}
	w.open(tag)
	for i, l := range lines {
		if i > 0 {
			w.out.WriteString("<br>\n")
		}
		w.runs(w.d.inline(l))
	}
	w.shut(tag)
}

// contents writes the table of contents.
func (w *page) contents() {
	var links page
	n := 0
	for i, s := range w.d.Tree.Sections {
		if s.Title != "" && s.Role != report.RoleChanges {
			n++
			links.open("li")
			links.element(s.Title, "a", "href", "#"+place(i))
			links.shut("li")
		}
	}
	if n > fewSections {
		w.out.WriteString("<nav>\n<ul>\n" + links.out.String() + "</ul>\n</nav>\n")
	}
}

// legend writes the controls to show new sentences and verdicts.
func (w *page) legend() {
	t := w.d.texts
	verdicts, news := w.d.checks()
	if news {
		w.checkbox("show-news", t.ShowNews.String())
		w.shut("p")
	}
	if len(verdicts) == 0 {
		return
	}
	w.checkbox("show-checks", t.ShowChecks.String())
	words := []prompts.Text{t.CheckConfirmed, t.CheckConclusion, t.CheckUnconfirmed, t.CheckUnsupported}
	for i, verdict := range []string{"supported", "conclusion", "unverified", "unsupported"} {
		if verdicts[verdict] {
			w.out.WriteString(" ")
			w.element(words[i].String(), "span", "class", classes[verdict])
		}
	}
	w.shut("p")
}

// classes are the CSS classes of verdicts.
var classes = map[string]string{"supported": "v-ok", "conclusion": "v-own", "unverified": "v-open",
	"unsupported": "v-bad"}

// checkbox opens a paragraph with a checkbox and its label.
func (w *page) checkbox(id, label string) {
	w.open("p", "class", "checks")
	w.open("label")
	w.open("input", "type", "checkbox", "id", id)
	w.text(" " + label)
	w.shut("label")
}

// blocks writes blocks. tight: the first paragraph is a list item.
func (w *page) blocks(blocks []report.Block, tight bool) {
	for i, b := range blocks {
		switch b.Kind {
		case report.KindHeading:
			tag := "h" + strconv.Itoa(b.Level)
			w.open(tag)
			w.runs(w.d.sentences(b.Sentences))
			w.shut(tag)
		case report.KindParagraph:
			w.paragraph(w.d.sentences(b.Sentences), tight && i == 0)
		case report.KindCode:
			w.open("pre")
			w.element(b.Code, "code")
			w.out.WriteString("</pre>\n")
		case report.KindQuote:
			w.out.WriteString("<blockquote>\n")
			w.blocks(b.Blocks, false)
			w.shut("blockquote")
		case report.KindExcerpt:
			w.blocks(excerpt(b), tight && i == 0)
		case report.KindList:
			w.list(b)
		case report.KindTable:
			w.table(b)
		case report.KindFigure:
			w.figure(b)
		}
	}
}

func (w *page) paragraph(runs []run, bare bool) {
	if !bare {
		w.open("p")
		defer w.shut("p")
	}
	w.runs(runs)
}

// figure writes a picture, or its title if it is missing, and the caption.
func (w *page) figure(b report.Block) {
	w.open("p")
	if f := w.d.picture(b); f != nil {
		w.picture(*f)
	} else {
		w.text(b.Title)
	}
	w.shut("p")
	if caption := w.d.caption(b); len(caption) > 0 {
		w.paragraph(caption, false)
	}
}

// references writes the references, and what stands below them.
func (w *page) references() {
	if len(w.d.Tree.References) > 0 {
		w.element(w.d.texts.References.String(), "h2")
	}
	for _, ref := range w.d.Tree.References {
		if ref.About != "" {
			w.paragraph(w.d.inline(ref.About), false)
		}
		for _, e := range ref.Entries {
			w.reference(e)
		}
	}
	for _, line := range w.d.Tree.Imprint {
		w.paragraph(w.d.inline(line), false)
	}
}

// reference writes an entry of the references: the entry, links back to the citations, and its passages.
func (w *page) reference(e report.Entry) {
	w.open("div", "class", "ref", "id", e.Anchor())
	w.open("p")
	w.text("[" + e.Label + "] ")
	w.runs(w.d.inline(e.Text))
	for i, n := range w.d.cites[e.Anchor()] {
		label := strconv.Itoa(i + 1)
		if i == 0 {
			label = "↩\ufe0e" + label
		}
		w.out.WriteString(" ")
		w.element(label, "a", "class", "back", "href", "#cite-"+strconv.Itoa(n))
	}
	w.shut("p")
	if passages := w.d.Notes[e.Anchor()].passages(); len(passages) > 0 {
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

func (w *page) list(b report.Block) {
	tag := "ul"
	if b.Ordered {
		tag = "ol"
	}
	if b.Ordered && b.Start != 1 {
		w.open(tag, "start", strconv.Itoa(b.Start))
	} else {
		w.open(tag)
	}
	w.out.WriteString("\n")
	for _, item := range b.Items {
		w.open("li")
		w.blocks(item, true)
		w.shut("li")
	}
	w.shut(tag)
}

func (w *page) table(b report.Block) {
	w.out.WriteString(`<div class="wide"><table>` + "\n")
	for i, r := range b.Rows {
		tag := "td"
		if i == 0 {
			tag = "th"
		}
		w.open("tr")
		for n, runs := range w.d.cells(r) {
			if right(b, n) {
				w.open(tag, "class", "right")
			} else {
				w.open(tag)
			}
			w.runs(runs)
			w.shut(tag)
		}
		w.shut("tr")
	}
	w.out.WriteString("</table></div>\n")
}

// right reports whether a column of a table is aligned to the right.
func right(table report.Block, column int) bool {
	return column < len(table.Align) && table.Align[column] == "right"
}

// tags lists the HTML tags of styles, outermost first.
var tags = []struct {
	style style
	tag   string
}{{marked, "mark"}, {bold, "strong"}, {italic, "em"}, {struck, "del"}, {fixed, "code"}}

func (w *page) runs(runs []run) {
	for _, x := range runs {
		if x.cited != "" {
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
	}
}

func (w *page) styled(x run) {
	class := ""
	if x.Check > 0 && x.State != report.StateQuoted {
		class = classes[x.Verdict]
	}
	if x.New {
		class = strings.TrimSpace(class + " news")
	}
	if class != "" && strings.TrimSpace(x.text) != "" {
		attributes := []string{"class", class}
		if x.Check > 0 {
			attributes = append(attributes, "data-sentence", strconv.Itoa(x.Check))
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
