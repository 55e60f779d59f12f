package formats

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
)

// DOCX returns the report as a document for word processors such as Word and LibreOffice. Headings, lists and tables
// are native, citations link to bookmarks at the references, and figures are embedded. Equal reports give equal bytes.
// The error wraps ErrTooLarge.
func DOCX(r Report) ([]byte, error) {
	d, err := newDocument(r)
	if err != nil {
		return nil, err
	}
	w := &word{d: d, targets: map[string]string{}}
	w.sections()
	w.references()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, p := range w.parts() {
		f, err := archive.CreateHeader(&zip.FileHeader{Name: p.name, Method: zip.Deflate, Modified: zipTime})
		if err != nil {
			return nil, fmt.Errorf("make %s of the document: %w", p.name, err)
		}
		if _, err := f.Write(p.body); err != nil {
			return nil, fmt.Errorf("make %s of the document: %w", p.name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("make the document: %w", err)
	}
	return out.Bytes(), nil
}

// zipTime is the earliest time in a zip file. It is constant so that equal reports give equal bytes.
var zipTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// word writes a document as WordprocessingML (ECMA-376, part 1).
type word struct {
	d         *document
	body      strings.Builder
	relations []relation
	lists     []wordList
	bookmarks int               // so far
	targets   map[string]string // relationship ids by address
	media     []part
}

// relation is a relationship of the document to another part or an address.
type relation struct {
	ID, Kind, Target string
	External         bool
}

// wordList is a list with a numbering of its own.
type wordList struct {
	ID      int
	Ordered bool
	Start   int
}

type part struct {
	name string
	body []byte
}

var (
	//go:embed docx.tmpl
	wordParts string
	//go:embed styles.xml
	wordStyles []byte

	wordTemplates = template.Must(template.New("").Funcs(template.FuncMap{"escaped": escaped}).Parse(wordParts))
)

// fill returns a template of docx.tmpl filled with data.
func fill(name string, data any) []byte {
	var out bytes.Buffer
	if err := wordTemplates.ExecuteTemplate(&out, name, data); err != nil {
		panic(fmt.Sprintf("make %s of the document: %v", name, err)) // a bug in the template, which tests would find
	}
	return out.Bytes()
}

// parts returns the files of the document after its blocks are written.
func (w *word) parts() []part {
	type level struct {
		Number, Indent  int
		Bullet, Decimal string
	}
	data := struct {
		Report    Report
		Body      string
		Relations []relation
		Levels    []level
		Lists     []wordList
	}{Report: w.d.Report, Body: w.body.String(), Lists: w.lists, Relations: append([]relation{
		{ID: "styles", Kind: "styles", Target: "styles.xml"},
		{ID: "numbering", Kind: "numbering", Target: "numbering.xml"},
		{ID: "footer", Kind: "footer", Target: "footer.xml"},
	}, w.relations...)}
	for n := range maxListLevel + 1 {
		bullet := []string{"•", "–"}[n%2]
		data.Levels = append(data.Levels, level{n, listIndent * (n + 1), bullet, fmt.Sprintf("%%%d.", n+1)})
	}
	var parts []part
	for _, name := range []string{
		"[Content_Types].xml", "_rels/.rels", "docProps/core.xml", "word/document.xml", "word/_rels/document.xml.rels",
		"word/numbering.xml", "word/footer.xml",
	} {
		parts = append(parts, part{name, fill(name, data)})
	}
	return append(append(parts, part{"word/styles.xml", wordStyles}), w.media...)
}

// escaped returns text escaped for XML, without characters that change the text direction. Characters that XML does not
// allow become U+FFFD.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(ordered(text))) // a strings.Builder never fails
	return b.String()
}

// maxListLevel is the deepest list level in Word, listIndent the indentation of each in twentieths of a point.
const maxListLevel, listIndent = 8, 720

// sections writes title, sections and status.
func (w *word) sections() {
	w.heading(1, w.d.Tree.Title)
	for _, s := range w.d.Tree.Sections {
		w.heading(2, s.Title)
		w.blocks(s.Blocks, 0, "")
		switch s.Role {
		case report.RoleChanges:
			w.body.WriteString(`<w:p><w:pPr><w:pBdr>` +
				`<w:bottom w:val="single" w:sz="4" w:space="1" w:color="BFBFBF"/></w:pBdr></w:pPr></w:p>`)
		case report.RoleAnswer:
			for _, line := range w.d.Tree.Status {
				w.paragraph(`<w:pStyle w:val="Quote"/>`, w.d.inline(line))
			}
		}
	}
}

// references writes the references, and what stands below them.
func (w *word) references() {
	if len(w.d.Tree.References) > 0 {
		w.heading(2, w.d.texts.References.String())
	}
	for _, ref := range w.d.Tree.References {
		if ref.About != "" {
			w.paragraph("", w.d.inline(ref.About))
		}
		for _, e := range ref.Entries {
			w.body.WriteString(`<w:p><w:pPr><w:pStyle w:val="Reference"/></w:pPr>`)
			w.bookmarks++
			fmt.Fprintf(&w.body, `<w:bookmarkStart w:id="%[1]d" w:name="%[2]s"/><w:bookmarkEnd w:id="%[1]d"/>`,
				w.bookmarks, bookmark(e.Anchor()))
			w.runs(append([]run{{text: "[" + e.Label + "] "}}, w.d.inline(e.Text)...))
			w.body.WriteString("</w:p>")
		}
	}
	for _, line := range w.d.Tree.Imprint {
		w.paragraph("", w.d.inline(line))
	}
}

func (w *word) heading(level int, title string) {
	if title != "" {
		w.paragraph(`<w:pStyle w:val="Heading`+strconv.Itoa(level)+`"/>`, []run{{text: title}})
	}
}

// blocks writes blocks. properties: those of their paragraphs.
func (w *word) blocks(blocks []report.Block, level int, properties string) {
	for _, b := range blocks {
		switch b.Kind {
		case report.KindHeading:
			w.paragraph(`<w:pStyle w:val="Heading`+strconv.Itoa(b.Level)+`"/>`, w.d.sentences(b.Sentences))
		case report.KindParagraph:
			w.paragraph(properties, w.d.sentences(b.Sentences))
		case report.KindCode:
			w.code(b.Code)
		case report.KindQuote:
			w.blocks(b.Blocks, level, `<w:pStyle w:val="Quote"/>`)
		case report.KindExcerpt:
			w.blocks(excerpt(b), level, properties)
		case report.KindList:
			w.list(b, level)
		case report.KindTable:
			w.table(b)
		case report.KindFigure:
			w.figure(b)
		}
	}
}

func (w *word) figure(b report.Block) {
	w.body.WriteString("<w:p>")
	if f := w.d.picture(b); f != nil {
		w.picture(*f)
	} else {
		w.text("", b.Title, false)
	}
	w.body.WriteString("</w:p>")
	if caption := w.d.caption(b); len(caption) > 0 {
		w.paragraph("", caption)
	}
}

func (w *word) paragraph(properties string, runs []run) {
	w.body.WriteString("<w:p>")
	if properties != "" {
		w.body.WriteString("<w:pPr>" + properties + "</w:pPr>")
	}
	w.runs(runs)
	w.body.WriteString("</w:p>")
}

// bookmark returns the bookmark name of an anchor. Names have only letters, digits and _, at most 40.
func bookmark(anchor string) string { return strings.ReplaceAll(anchor, "-", "_") }

func (w *word) code(text string) {
	w.body.WriteString(`<w:p><w:pPr><w:pStyle w:val="CodeBlock"/></w:pPr>`)
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			w.body.WriteString(`<w:r><w:br/></w:r>`)
		}
		w.text("", line, false)
	}
	w.body.WriteString("</w:p>")
}

func (w *word) list(b report.Block, level int) {
	id, level := len(w.lists)+1, min(level, maxListLevel)
	w.lists = append(w.lists, wordList{id, b.Ordered, b.Start})
	const style = `<w:pStyle w:val="ListParagraph"/>`
	first := style + fmt.Sprintf(`<w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr>`, level, id)
	rest := style + fmt.Sprintf(`<w:ind w:left="%d"/>`, listIndent*(level+1))
	for _, item := range b.Items {
		if item[0].Kind == report.KindExcerpt {
			item = slices.Concat(excerpt(item[0]), item[1:])
		}
		if item[0].Kind == report.KindParagraph {
			w.paragraph(first, w.d.sentences(item[0].Sentences))
			item = item[1:]
		} else {
			w.paragraph(first, nil)
		}
		w.blocks(item, level+1, rest)
	}
}

// pageWidth is the width between the margins, in twentieths of a point.
const pageWidth = 9354

func (w *word) table(b report.Block) {
	columns := max(1, columnsOf(b))
	w.body.WriteString(`<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="5000" w:type="pct"/>` +
		`<w:tblLook w:val="0420"/></w:tblPr><w:tblGrid>`)
	for range columns {
		fmt.Fprintf(&w.body, `<w:gridCol w:w="%d"/>`, pageWidth/columns)
	}
	w.body.WriteString("</w:tblGrid>")
	for i, r := range b.Rows {
		cells := w.d.cells(r)
		w.body.WriteString("<w:tr>")
		if i == 0 {
			w.body.WriteString("<w:trPr><w:tblHeader/></w:trPr>")
		}
		for j := range columns {
			var runs []run
			if j < len(cells) {
				runs = cells[j]
			}
			properties := `<w:pStyle w:val="TableText"/>`
			if right(b, j) {
				properties += `<w:jc w:val="right"/>`
			}
			if i == 0 {
				for k := range runs {
					runs[k].style |= bold
				}
			}
			fmt.Fprintf(&w.body, `<w:tc><w:tcPr><w:tcW w:w="%d" w:type="dxa"/></w:tcPr>`, pageWidth/columns)
			w.paragraph(properties, runs)
			w.body.WriteString("</w:tc>")
		}
		w.body.WriteString("</w:tr>")
	}
	w.body.WriteString(`</w:tbl><w:p><w:pPr><w:spacing w:after="60"/></w:pPr></w:p>`)
}

func (w *word) runs(runs []run) {
	for _, x := range runs {
		closing := w.open(x)
		w.text(properties(x), x.text, x.cited != "")
		w.body.WriteString(closing)
	}
}

// open starts the link of a run and returns its closing tag.
func (w *word) open(x run) string {
	const end = "</w:hyperlink>"
	switch {
	case x.cited != "":
		w.body.WriteString(`<w:hyperlink w:anchor="` + bookmark(x.cited) + `"`)
		if tip := text.Clip(strings.TrimSpace(w.d.Notes[x.cited].Title+": "+x.passage.Quote), maxTip); tip != ":" {
			w.body.WriteString(` w:tooltip="` + escaped(tip) + `"`)
		}
		w.body.WriteString(` w:history="1">`)
	case x.link != "" && !strings.HasPrefix(x.link, "../"):
		w.body.WriteString(`<w:hyperlink r:id="` + w.target(x.link) + `" w:history="1">`)
	default:
		return ""
	}
	return end
}

// maxTip is the maximum length of a tooltip in Word, in characters.
const maxTip = 255

// target returns the relationship id of an external address.
func (w *word) target(address string) string {
	id, known := w.targets[address]
	if !known {
		id = "link" + strconv.Itoa(len(w.targets)+1)
		w.targets[address] = id
		w.relations = append(w.relations, relation{ID: id, Kind: "hyperlink", Target: address, External: true})
	}
	return id
}

// properties returns the run properties of a run.
func properties(x run) string {
	var p string
	switch {
	case x.cited != "":
		p += `<w:rStyle w:val="Citation"/>`
	case x.link != "":
		p += `<w:rStyle w:val="Hyperlink"/>`
	case x.style&fixed != 0:
		p += `<w:rStyle w:val="CodeText"/>`
	case x.style&marked != 0:
		p += `<w:rStyle w:val="Verdict"/>`
	}
	if x.style&bold != 0 {
		p += "<w:b/>"
	}
	if x.style&italic != 0 {
		p += "<w:i/>"
	}
	if x.style&struck != 0 {
		p += "<w:strike/>"
	}
	return p
}

// text writes a run. label: the text of a citation, whose hyphens do not break.
func (w *word) text(properties, text string, label bool) {
	w.body.WriteString("<w:r>")
	if properties != "" {
		w.body.WriteString("<w:rPr>" + properties + "</w:rPr>")
	}
	text = `<w:t xml:space="preserve">` + escaped(text) + "</w:t>"
	if label {
		text = strings.ReplaceAll(text, "-", `</w:t><w:noBreakHyphen/><w:t xml:space="preserve">`)
	}
	w.body.WriteString(text + "</w:r>")
}
