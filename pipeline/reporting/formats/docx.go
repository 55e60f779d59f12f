package formats

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"time"

	"nightdesk/pipeline/text"
)

// DOCX returns the report as a document for word processors such as Word and LibreOffice. Headings, lists and tables
// are native, citations link to bookmarks at the references, and figures are embedded. Equal reports give equal bytes.
// The error wraps ErrTooLarge.
func DOCX(r Report) ([]byte, error) {
	d, err := read(r)
	if err != nil {
		return nil, err
	}
	w := &word{d: d, bookmarks: map[string]int{}, targets: map[string]string{}}
	eachBlock(d.blocks, func(b *block) {
		if b.anchor != "" {
			w.bookmarks[b.anchor] = len(w.bookmarks) + 1
		}
	})
	w.blocks(d.blocks, 0, "")
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
	bookmarks map[string]int
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
	_ = xml.EscapeText(&b, []byte(ordered.Replace(text))) // a strings.Builder never fails
	return b.String()
}

// maxListLevel is the deepest list level in Word, listIndent the indentation of each in twentieths of a point.
const maxListLevel, listIndent = 8, 720

// blocks writes blocks. properties: those of their paragraphs.
func (w *word) blocks(blocks []block, level int, properties string) {
	for _, b := range blocks {
		switch b.kind {
		case heading:
			w.paragraph(`<w:pStyle w:val="Heading`+strconv.Itoa(b.level)+`"/>`, b)
		case paragraph:
			p := properties
			if b.anchor != "" {
				p = `<w:pStyle w:val="Reference"/>`
			}
			w.paragraph(p, b)
		case code:
			w.code(b.text)
		case quote:
			w.blocks(b.blocks, level, `<w:pStyle w:val="Quote"/>`)
		case list:
			w.list(b, level)
		case table:
			w.table(b)
		case rule:
			w.body.WriteString(`<w:p><w:pPr><w:pBdr>` +
				`<w:bottom w:val="single" w:sz="4" w:space="1" w:color="BFBFBF"/></w:pBdr></w:pPr></w:p>`)
		}
	}
}

func (w *word) paragraph(properties string, b block) {
	w.body.WriteString("<w:p>")
	if properties != "" {
		w.body.WriteString("<w:pPr>" + properties + "</w:pPr>")
	}
	if id := w.bookmarks[b.anchor]; b.anchor != "" && id > 0 {
		fmt.Fprintf(&w.body, `<w:bookmarkStart w:id="%[1]d" w:name="%[2]s"/><w:bookmarkEnd w:id="%[1]d"/>`,
			id, bookmark(b.anchor))
	}
	w.runs(b.runs)
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

func (w *word) list(b block, level int) {
	id, level := len(w.lists)+1, min(level, maxListLevel)
	w.lists = append(w.lists, wordList{id, b.ordered, b.start})
	const style = `<w:pStyle w:val="ListParagraph"/>`
	first := style + fmt.Sprintf(`<w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr>`, level, id)
	rest := style + fmt.Sprintf(`<w:ind w:left="%d"/>`, listIndent*(level+1))
	for _, item := range b.items {
		if len(item) > 0 && item[0].kind == paragraph {
			w.paragraph(first, item[0])
			item = item[1:]
		} else {
			w.paragraph(first, block{})
		}
		w.blocks(item, level+1, rest)
	}
}

// pageWidth is the width between the margins, in twentieths of a point.
const pageWidth = 9354

func (w *word) table(b block) {
	columns := 1
	for _, r := range b.rows {
		columns = max(columns, len(r))
	}
	w.body.WriteString(`<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="5000" w:type="pct"/>` +
		`<w:tblLook w:val="0420"/></w:tblPr><w:tblGrid>`)
	for range columns {
		fmt.Fprintf(&w.body, `<w:gridCol w:w="%d"/>`, pageWidth/columns)
	}
	w.body.WriteString("</w:tblGrid>")
	for i, r := range b.rows {
		w.body.WriteString("<w:tr>")
		if i == 0 {
			w.body.WriteString("<w:trPr><w:tblHeader/></w:trPr>")
		}
		for j := range columns {
			c := cell{}
			if j < len(r) {
				c = r[j]
			}
			properties := `<w:pStyle w:val="TableText"/>`
			if c.right {
				properties += `<w:jc w:val="right"/>`
			}
			if i == 0 {
				for k := range c.runs {
					c.runs[k].style |= bold
				}
			}
			fmt.Fprintf(&w.body, `<w:tc><w:tcPr><w:tcW w:w="%d" w:type="dxa"/></w:tcPr>`, pageWidth/columns)
			w.paragraph(properties, block{runs: c.runs})
			w.body.WriteString("</w:tc>")
		}
		w.body.WriteString("</w:tr>")
	}
	w.body.WriteString(`</w:tbl><w:p><w:pPr><w:spacing w:after="60"/></w:pPr></w:p>`)
}

func (w *word) runs(runs []run) {
	for _, x := range runs {
		if x.figure != nil {
			w.picture(*x.figure)
			continue
		}
		closing := w.open(x)
		w.text(properties(x), x.text, x.cited != "")
		w.body.WriteString(closing)
		if x.broken {
			w.body.WriteString("<w:r><w:br/></w:r>")
		}
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
	case strings.HasPrefix(x.link, "#"):
		w.body.WriteString(`<w:hyperlink w:anchor="` + bookmark(x.link[1:]) + `" w:history="1">`)
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
