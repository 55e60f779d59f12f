package formats

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed styles.xml
var wordStyles []byte

const (
	xmlHead       = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	relationTypes = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	packageSchema = "http://schemas.openxmlformats.org/package/2006"
	wordSchema    = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
	namespaces    = ` xmlns:w="` + wordSchema + `" xmlns:r="` + relationTypes + `" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"`
)

// parts returns the files of the document after its blocks are written.
func (w *word) parts() []part {
	office := "application/vnd.openxmlformats-officedocument.wordprocessingml."
	parts := []part{
		{"[Content_Types].xml", []byte(xmlHead + `<Types xmlns="` + packageSchema + `/content-types">` +
			`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>` +
			`<Default Extension="png" ContentType="image/png"/><Default Extension="svg" ContentType="image/svg+xml"/>` +
			`<Override PartName="/word/document.xml" ContentType="` + office + `document.main+xml"/><Override PartName="/word/styles.xml" ContentType="` + office + `styles+xml"/>` +
			`<Override PartName="/word/numbering.xml" ContentType="` + office + `numbering+xml"/><Override PartName="/word/footer.xml" ContentType="` + office + `footer+xml"/>` +
			`<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>`)},
		{"_rels/.rels", []byte(xmlHead + `<Relationships xmlns="` + packageSchema + `/relationships"><Relationship Id="document" Type="` + relationTypes + `/officeDocument" Target="word/document.xml"/>` +
			`<Relationship Id="properties" Type="` + packageSchema + `/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>`)},
		{"docProps/core.xml", []byte(xmlHead + `<cp:coreProperties xmlns:cp="` + packageSchema + `/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>` +
			escaped(w.d.Title) + `</dc:title><dc:language>` + escaped(w.d.Language) + `</dc:language></cp:coreProperties>`)},
		{"word/document.xml", []byte(xmlHead + `<w:document` + namespaces + `><w:body>` + w.body.String() +
			`<w:sectPr><w:footerReference w:type="default" r:id="footer"/><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1276" w:right="1276" w:bottom="1276" w:left="1276" w:header="709" w:footer="709" w:gutter="0"/></w:sectPr></w:body></w:document>`)},
		{"word/_rels/document.xml.rels", []byte(xmlHead + `<Relationships xmlns="` + packageSchema + `/relationships"><Relationship Id="styles" Type="` + relationTypes + `/styles" Target="styles.xml"/>` +
			`<Relationship Id="numbering" Type="` + relationTypes + `/numbering" Target="numbering.xml"/><Relationship Id="footer" Type="` + relationTypes + `/footer" Target="footer.xml"/>` + w.relations.String() + `</Relationships>`)},
		{"word/styles.xml", wordStyles},
		{"word/numbering.xml", []byte(w.numbering())},
		{"word/footer.xml", []byte(xmlHead + `<w:ftr` + namespaces + `><w:p><w:pPr><w:jc w:val="center"/></w:pPr><w:r><w:fldChar w:fldCharType="begin"/></w:r>` +
			`<w:r><w:instrText xml:space="preserve"> PAGE </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>1</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p></w:ftr>`)},
	}
	return append(parts, w.media...)
}

// numbering returns the numbering part: a bullet format, a number format, and one instance per list, so that each list
// is numbered separately.
func (w *word) numbering() string {
	var b strings.Builder
	b.WriteString(xmlHead + `<w:numbering` + namespaces + `>`)
	for kind, format := range []string{"bullet", "decimal"} {
		fmt.Fprintf(&b, `<w:abstractNum w:abstractNumId="%d"><w:multiLevelType w:val="hybridMultilevel"/>`, kind)
		for level := range maxListLevel + 1 {
			text := fmt.Sprintf("%%%d.", level+1)
			if kind == 0 {
				text = []string{"•", "–"}[level%2]
			}
			fmt.Fprintf(&b, `<w:lvl w:ilvl="%d"><w:start w:val="1"/><w:numFmt w:val="%s"/><w:lvlText w:val="%s"/><w:lvlJc w:val="left"/><w:pPr><w:ind w:left="%d" w:hanging="360"/></w:pPr></w:lvl>`,
				level, format, text, 720*(level+1))
		}
		b.WriteString("</w:abstractNum>")
	}
	for i, l := range w.lists {
		kind := 0
		if l.ordered {
			kind = 1
		}
		fmt.Fprintf(&b, `<w:num w:numId="%d"><w:abstractNumId w:val="%d"/>`, i+1, kind)
		if l.ordered {
			for level := range maxListLevel + 1 {
				fmt.Fprintf(&b, `<w:lvlOverride w:ilvl="%d"><w:startOverride w:val="%d"/></w:lvlOverride>`, level, l.start)
			}
		}
		b.WriteString("</w:num>")
	}
	b.WriteString("</w:numbering>")
	return b.String()
}
