package extract_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/pipeline/knowledge/extract/office"
)

// wrun is a run of Word with properties, prun one of PowerPoint.
func wrun(properties, text string) string {
	return "<w:r><w:rPr>" + properties + `</w:rPr><w:t xml:space="preserve">` + text + "</w:t></w:r>"
}

func prun(attributes, inner, text string) string {
	return "<a:r><a:rPr " + attributes + ">" + inner + "</a:rPr><a:t>" + text + "</a:t></a:r>"
}

func pptxOf(shapes string) []byte {
	return pack("ppt/presentation.xml", "<p/>", "ppt/slides/slide1.xml", slide(shapes))
}

func pparagraph(runs ...string) []byte {
	return pptxOf("<p:sp><p:txBody><a:p>" + strings.Join(runs, "") + "</a:p></p:txBody></p:sp>")
}

func wcell(properties, text string) string {
	return "<w:tc><w:tcPr>" + properties + "</w:tcPr>" + wp("", wr(text)) + "</w:tc>"
}

func acell(attributes, text string) string {
	return "<a:tc " + attributes + "><a:txBody><a:p>" + prun("", "", text) + "</a:p></a:txBody></a:tc>"
}

const up, strike = `<w:vertAlign w:val="superscript"/>`, "<w:strike/>"

// wantSpans is a table whose header has two rows, with spans in both directions.
const wantSpans = "| Port | Boats | Boats | Crew |\n| Port | 2023 | 2024 | Crew |\n| Emloak | 11 | 12 | 40 |\n| Emloak | 13 | 14 | 41 |"

// What the eye sees in an Office file reaches its text, in one notation for all formats.
func TestOfficeReading(t *testing.T) {
	t.Parallel()
	for property, files := range map[string]struct {
		want  string // the whole text
		files map[string][]byte
	}{
		"raised, lowered, struck and deleted text": {"The load is 10^6 N on 25 m^2 of H2O, 10^-6 in all, for 950 euros.", map[string][]byte{
			"a.docx": makeDOCX(wp("", wr("The load is 10"), wrun(up, "6"), wr(" N on 25 m"), wrun(`<w:position w:val="6"/>`, "2"),
				wr(" of H"), wrun(`<w:vertAlign w:val="subscript"/>`, "2"), wr("O, 10"), wrun(up, "-"), wrun(up, "6"),
				wr(" in all, for "), wrun(strike, "900 "), "<w:del><w:r><w:delText>920 </w:delText></w:r></w:del>", wr("950 euros."))),
			"a.pptx": pparagraph(prun("", "", "The load is 10"), prun(`baseline="30000"`, "", "6"), prun("", "", " N on 25 m"),
				prun(`baseline="30000"`, "", "2"), prun("", "", " of H"), prun(`baseline="-25000"`, "", "2"), prun("", "", "O, 10"),
				prun(`baseline="30000"`, "", "-"), prun(`baseline="30000"`, "", "6"), prun("", "", " in all, for "),
				prun(`strike="sngStrike"`, "", "900 "), prun("", "", "950 euros.")),
		}},
		"symbol fonts": {"±3 mm and 5 µm ✓", map[string][]byte{
			"a.docx": makeDOCX(wp("", `<w:r><w:sym w:font="Symbol" w:char="F0B1"/></w:r>`, wr("3 mm and 5 "),
				wrun(`<w:rFonts w:ascii="Symbol"/>`, "\uf06d"), wr("m "), `<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>`)),
			"a.pptx": pparagraph(prun("", `<a:sym typeface="Symbol"/>`, "\uf0b1"), prun("", "", "3 mm and 5 "),
				prun("", `<a:latin typeface="Symbol"/>`, "m"), prun("", "", "m "), prun("", `<a:sym typeface="Wingdings"/>`, "\uf0fc")),
		}},
		"formulas": {"It is (x^2)/(a+b) and sqrt(x_i) = ∑_(i=1)^n i", map[string][]byte{
			"a.docx": makeDOCX(wp("", wr("It is "), omml)), "a.pptx": pparagraph(prun("", "", "It is "), "<a14:m><m:oMathPara>"+omml+"</m:oMathPara></a14:m>"),
		}},
		"hidden text": {"Seen.", map[string][]byte{
			"a.docx": makeDOCX(wp("", wr("Seen."), wrun("<w:vanish/>", " Hidden."), wrun(`<w:sz w:val="2"/>`, " Tiny."),
				wrun(`<w:color w:val="FFFFFF"/>`, " White."), wrun(`<w:rStyle w:val="Geheim"/>`, " Style."))),
			"a.pptx": pparagraph(prun("", "", "Seen."), prun(`sz="100"`, "", " Tiny.")),
		}},
		"white text on a shaded style": {"Seen.", map[string][]byte{
			"a.docx": makeDOCX(wp(`<w:pStyle w:val="Banner"/>`, wrun(`<w:color w:val="FFFFFF"/>`, "Seen."))),
		}},
		"white text on a dark ground": {"| Port | Boats |\n| Emloak | 11 |", map[string][]byte{
			"a.docx": makeDOCX(`<w:tbl><w:tr><w:tc>` + wp("", wrun(`<w:color w:val="FFFFFF"/>`, "Port")) + "</w:tc>" +
				wcell("", "Boats") + "</w:tr><w:tr>" + wcell("", "Emloak") + wcell("", "11") + "</w:tr></w:tbl>"),
		}},
		"spans": {wantSpans, map[string][]byte{
			"a.docx": makeDOCX("<w:tbl><w:tr>" + wcell(`<w:vMerge w:val="restart"/>`, "Port") + wcell(`<w:gridSpan w:val="2"/>`, "Boats") +
				wcell(`<w:vMerge w:val="restart"/>`, "Crew") + "</w:tr><w:tr>" + wcell("<w:vMerge/>", "") + wcell("", "2023") + wcell("", "2024") +
				wcell("<w:vMerge/>", "") + "</w:tr><w:tr>" + wcell(`<w:vMerge w:val="restart"/>`, "Emloak") + wcell("", "11") + wcell("", "12") +
				wcell("", "40") + "</w:tr><w:tr>" + wcell("<w:vMerge/>", "") + wcell("", "13") + wcell("", "14") + wcell("", "41") + "</w:tr></w:tbl>"),
			"a.pptx": pptxOf("<p:graphicFrame><a:tbl><a:tr>" + acell(`rowSpan="2"`, "Port") + acell(`gridSpan="2"`, "Boats") + acell(`hMerge="1"`, "") +
				acell(`rowSpan="2"`, "Crew") + "</a:tr><a:tr>" + acell(`vMerge="1"`, "") + acell("", "2023") + acell("", "2024") + acell(`vMerge="1"`, "") +
				"</a:tr><a:tr>" + acell(`rowSpan="2"`, "Emloak") + acell("", "11") + acell("", "12") + acell("", "40") + "</a:tr><a:tr>" +
				acell(`vMerge="1"`, "") + acell("", "13") + acell("", "14") + acell("", "41") + "</a:tr></a:tbl></p:graphicFrame>"),
		}},
	} {
		for name, data := range files.files {
			t.Run(property+"/"+name, func(t *testing.T) {
				t.Parallel()
				doc, err := extract.File(t.Context(), name, data)
				if err != nil || doc.Text != files.want {
					t.Fatalf("%v, got:\n%s\nwant:\n%s", err, doc.Text, files.want)
				}
				check(t, doc)
			})
		}
	}
}

const omml = `<m:oMath><m:f><m:num><m:sSup><m:e><m:r><m:t>𝑥</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:num>` +
	`<m:den><m:r><m:t>a+b</m:t></m:r></m:den></m:f><m:r><m:t> and </m:t></m:r><m:rad><m:radPr><m:degHide/></m:radPr><m:deg/><m:e><m:sSub><m:e><m:r>` +
	`<m:t>x</m:t></m:r></m:e><m:sub><m:r><m:t>i</m:t></m:r></m:sub></m:sSub></m:e></m:rad><m:r><m:t> = </m:t></m:r><m:nary><m:naryPr><m:chr m:val="∑"/>` +
	`</m:naryPr><m:sub><m:r><m:t>i=1</m:t></m:r></m:sub><m:sup><m:r><m:t>n</m:t></m:r></m:sup><m:e><m:r><m:t>i</m:t></m:r></m:e></m:nary></m:oMath>`

// xlsxOf packs the rows and other parts of one sheet; styles: the cells of style 1 have number format 14, of style 2 are struck, of
// style 3 are white.
func xlsxOf(before, rows, after string) []byte {
	return pack("xl/workbook.xml", `<workbook><sheets><sheet name="Sheet1" r:id="r1" xmlns:r="r"/><sheet name="H" state="veryHidden" r:id="r1" xmlns:r="r"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", relations("r1", "worksheet", "worksheets/sheet1.xml", "s", "sharedStrings", "sharedStrings.xml", "t", "styles", "styles.xml"),
		"xl/sharedStrings.xml", `<sst><si><t>Port</t></si><si><r><t>The load is 10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>6</t></r><r><t> N</t></r>`+
			`<r><rPr><strike/></rPr><t>, 900</t></r><rPh><t>x</t></rPh></si></sst>`,
		"xl/styles.xml", `<styleSheet><fonts><font/><font><strike/></font><font><color theme="0"/></font></fonts><cellXfs><xf/><xf numFmtId="14"/>`+
			`<xf fontId="1"/><xf fontId="2" fillId="0"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml", "<worksheet>"+before+"<sheetData>"+rows+"</sheetData>"+after+"</worksheet>")
}

func xrow(number, attributes string, cells ...string) string {
	return `<row r="` + number + `" ` + attributes + ">" + strings.Join(cells, "") + "</row>"
}

// xcell is a cell with a text, or a value with a style.
func xcell(ref, text string) string {
	if style, value, ok := strings.Cut(text, ":"); ok {
		return `<c r="` + ref + `" s="` + style + `"><v>` + value + "</v></c>"
	}
	return `<c r="` + ref + `" t="inlineStr"><is><t>` + text + "</t></is></c>"
}

func TestXLSX(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"spans", xlsxOf("", xrow("1", "", xcell("A1", "Port"), xcell("B1", "Boats"), xcell("D1", "Crew"))+xrow("2", "", xcell("B2", "0:2023"), xcell("C2", "0:2024"))+
			xrow("3", "", xcell("A3", "Emloak"), xcell("B3", "0:11"), xcell("C3", "0:12"), xcell("D3", "0:40"))+
			xrow("4", "", xcell("B4", "0:13"), xcell("C4", "0:14"), xcell("D4", "0:41")),
			`<mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/><mergeCell ref="D1:D2"/><mergeCell ref="A3:A4"/></mergeCells>`), wantSpans},
		{"shared strings and dates", xlsxOf("", xrow("1", "", `<c r="A1" t="s"><v>0</v></c>`, `<c r="B1" t="s"><v>1</v></c>`)+xrow("2", "", xcell("A2", "0:1.5"), xcell("B2", "1:45678")), ""),
			"| Port | The load is 10^6 N |\n| 1.5 | 2025-01-21 |"},
		{"hidden rows, columns and cells", xlsxOf(`<cols><col min="3" max="3" hidden="1"/></cols>`, xrow("1", "", xcell("A1", "a"), xcell("B1", "b"), xcell("C1", "no"))+
			xrow("2", `hidden="1"`, xcell("A2", "no"))+xrow("3", "", xcell("A3", "0:1"), xcell("B3", "0:2"), xcell("D3", "2:5"), xcell("E3", "3:5")), ""), "| a | b |\n| 1 | 2 |"},
		{"two tables with titles", xlsxOf("", xrow("1", "", xcell("B1", "Title"))+xrow("2", "", xcell("A2", "a"), xcell("B2", "b"))+xrow("4", "", xcell("A4", "0:1"), xcell("B4", "0:2"))+
			xrow("9", "", xcell("A9", "Next"))+xrow("10", "", xcell("A10", "c"), xcell("C10", "d"))+xrow("11", "", xcell("C11", "0:3")), ""),
			"Title\n\n| a | b |\n| 1 | 2 |\n\nNext\n\n| c | d |\n|  | 3 |"},
		{"formulas and errors", xlsxOf("", xrow("1", "", `<c r="A1" t="str"><f>x</f><v>yes</v></c>`, `<c><f>1+1</f><v>2</v></c>`, `<c t="b"><v>1</v></c>`, `<c t="e"><v>#N/A</v></c>`), ""),
			"| yes | 2 | TRUE | #N/A |"},
	} {
		doc, err := extract.File(t.Context(), "a.xlsx", tc.data)
		if err != nil || doc.Text != tc.want {
			t.Fatalf("%s: %v, got:\n%s\nwant:\n%s", tc.name, err, doc.Text, tc.want)
		}
		check(t, doc)
	}
	renamed := pack("_rels/.rels", relations("r", "officeDocument", "book/main.xml"), "book/main.xml", `<workbook><sheets><sheet name="A" r:id="r1" xmlns:r="r"/></sheets></workbook>`,
		"book/_rels/main.xml.rels", relations("r1", "worksheet", "one.xml"), "book/one.xml", "<worksheet>"+xrow("1", "", xcell("A1", "x"))+"</worksheet>")
	if doc, err := extract.File(t.Context(), "a.xlsx", renamed); err != nil || doc.Text != "x" {
		t.Errorf("%v %q", err, doc.Text)
	}
	wide := strings.Repeat(`<c r="AAA1"><v>1</v></c>`, 2)
	for name, tc := range map[string]struct {
		data []byte
		want error
	}{
		"a bomb":          {xlsxOf("", strings.Repeat(" ", 8<<20), ""), extract.ErrTooLarge},
		"a sparse sheet":  {xlsxOf("", strings.Repeat("<row>"+xcell("A1", "x")+wide+"</row>", 500)+sparse(), ""), extract.ErrTooLarge},
		"merged cells":    {xlsxOf("", xrow("1", "", xcell("A1", "x"), xcell("B1", "y"))+strings.Repeat("<row>"+xcell("A2", "y")+"</row>", 9_000), `<mergeCell ref="A1:XFD1048576"/>`), nil},
		"no workbook":     {pack("xl/workbook.xml", "<x/>"), extract.ErrEmpty},
		"a broken sheet":  {xlsxOf("", "<row><c", ""), extract.ErrDamaged},
		"an old workbook": {[]byte("\xd0\xcf\x11\xe0"), extract.ErrEncrypted},
	} {
		if doc, err := extract.File(t.Context(), "a.xlsx", tc.data); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, %.80q, want %v", name, err, doc.Text, tc.want)
		}
	}
}

// sparse is rows of which each has another column, all over the sheet.
func sparse() string {
	var b strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&b, `<row><c r="%c%c1"><v>%d</v></c></row>`, 'A'+i/26%26, 'A'+i%26, i*7919%99991)
	}
	return b.String()
}

func FuzzXLSX(f *testing.F) {
	f.Add(xrow("1", "", xcell("A1", "a"), xcell("B1", "1:45678")), `<mergeCells><mergeCell ref="A1:B2"/></mergeCells>`)
	f.Fuzz(func(t *testing.T, rows, after string) {
		if doc, err := office.XLSX(xlsxOf("", rows, after)); err == nil && doc.Text != "" {
			check(t, doc)
		}
	})
}

const chartXML = `<c:chartSpace xmlns:c="c" xmlns:a="a"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Boats by port</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea>` +
	`<c:ser><c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>2023</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>Emloak</c:v></c:pt>` +
	`<c:pt idx="1"><c:v>Spanoak</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:formatCode>0%</c:formatCode><c:pt idx="0"><c:v>0.11</c:v></c:pt>` +
	`<c:pt idx="1"><c:v>0.13</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser><c:ser><c:tx><c:v>2024</c:v></c:tx><c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>Emloak</c:v></c:pt>` +
	`<c:pt idx="1"><c:v>Spanoak</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:pt idx="1"><c:v>14</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>` +
	`<c:catAx><c:title><a:p><a:r><a:t>Port</a:t></a:r></a:p></c:title></c:catAx><c:valAx><c:title><a:p><a:r><a:t>share of all</a:t></a:r></a:p></c:title></c:valAx></c:plotArea></c:chart></c:chartSpace>`

const diagramXML = `<dgm:dataModel xmlns:dgm="d" xmlns:a="a"><dgm:ptLst><dgm:pt modelId="0" type="doc"/><dgm:pt modelId="2"><dgm:t><a:p><a:r><a:t>Check</a:t></a:r></a:p></dgm:t></dgm:pt>` +
	`<dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt modelId="9" type="pres"><dgm:t><a:p><a:r><a:t>no</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst>` +
	`<dgm:cxnLst><dgm:cxn srcId="0" destId="2" srcOrd="1"/><dgm:cxn srcId="0" destId="1" srcOrd="0"/><dgm:cxn type="presOf" srcId="1" destId="9"/></dgm:cxnLst></dgm:dataModel>`

// Charts and diagrams are data, and documents of other formats in a document are read.
func TestOfficeParts(t *testing.T) {
	t.Parallel()
	drawn := `<a:graphic xmlns:a="a" xmlns:r="r"><a:graphicData><c:chart r:id="c1"/></a:graphicData></a:graphic>`
	book := xlsxOf("", xrow("1", "", xcell("A1", "Port"), xcell("B1", "0:9")), "")
	object := `<a:graphic xmlns:a="a" xmlns:r="r"><a:graphicData><p:oleObj r:id="o1"/></a:graphicData></a:graphic>`
	smart := `<a:graphic xmlns:a="a" xmlns:r="r"><a:graphicData><dgm:relIds r:dm="d1"/></a:graphicData></a:graphic>`
	parts := []string{"word/_rels/document.xml.rels", relations("c1", "chart", "charts/chart1.xml", "d1", "diagramData", "diagrams/data1.xml",
		"h", "aFChunk", "chunk.htm", "o1", "package", "embeddings/a.xlsx", "t", "aFChunk", "chunk.txt", "x", "aFChunk", "missing.htm"),
		"word/charts/chart1.xml", chartXML, "word/diagrams/data1.xml", diagramXML, "word/chunk.htm", "<h1>Annex</h1><p>The area is 5 m<sup>2</sup>.</p>", "word/chunk.txt", "Plain text.", "word/embeddings/a.xlsx", string(book)}
	docx := func(body string) []byte {
		return pack(append([]string{"word/document.xml", `<w:document xmlns:w="w" xmlns:r="r"><w:body>` + body + `</w:body></w:document>`}, parts...)...)
	}
	deck := func(frame, slideAttributes string) []byte {
		return pack("ppt/presentation.xml", "<p/>", "ppt/slides/slide1.xml", `<p:sld><p:cSld><p:graphicFrame>`+frame+`</p:graphicFrame></p:cSld></p:sld>`,
			"ppt/slides/slide2.xml", `<p:sld show="0"><p:cSld>`+shape("", "Not shown")+`</p:cSld></p:sld>`,
			"ppt/slides/_rels/slide1.xml.rels", relations("c1", "chart", "../charts/chart1.xml", "d1", "diagramData", "../diagrams/data1.xml", "o1", "package", "../embeddings/a.xlsx"), "ppt/embeddings/a.xlsx", string(book),
			"ppt/charts/chart1.xml", chartXML, "ppt/diagrams/data1.xml", diagramXML)
	}
	chart, list := "Boats by port: share of all\n\n| Port | 2023 | 2024 |\n| Emloak | 11% |  |\n| Spanoak | 13% | 14 |", "- Plan\n- Check"
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"chart.docx": {docx(wp("", wr("See:"), "<w:r><w:drawing>"+drawn+"</w:drawing></w:r>")), "See:\n\n" + chart}, "chart.pptx": {deck(drawn, ""), chart},
		"diagram.docx": {docx(wp("", "<w:r><w:drawing>"+smart+"</w:drawing></w:r>")), list}, "diagram.pptx": {deck(smart, ""), list},
		"object.docx": {docx(wp("", `<w:r><w:object><o:OLEObject r:id="o1"/></w:object></w:r>`)), "| Port | 9 |"}, "object.pptx": {deck(object, ""), "| Port | 9 |"},
		"chunks.docx":          {docx(wp("", wr("Body.")) + `<w:altChunk r:id="h"/><w:altChunk r:id="t"/><w:altChunk r:id="x"/>`), "Body.\n\nThe area is 5 m^2.\n\nPlain text."},
		"chart in a cell.docx": {docx("<w:tbl><w:tr>" + wcell("", "a") + "<w:tc><w:p><w:r><w:drawing>" + drawn + "</w:drawing></w:r></w:p></w:tc></w:tr></w:tbl>"), "| a |  |\n\n" + chart},
	} {
		doc, err := extract.File(t.Context(), name, tc.data)
		if err != nil || doc.Text != tc.want {
			t.Errorf("%s: %v, got:\n%s\nwant:\n%s", name, err, doc.Text, tc.want)
		}
		check(t, doc)
	}
}

// A document that holds itself ends.
func TestNestedDocuments(t *testing.T) {
	t.Parallel()
	data := makeDOCX(wp("", wr("inmost")))
	for range 100 {
		data = pack("word/document.xml", `<w:document xmlns:r="r"><w:p><w:r><w:t>outer</w:t></w:r></w:p>`+strings.Repeat(`<w:altChunk r:id="d"/>`, 3)+`</w:document>`,
			"word/_rels/document.xml.rels", relations("d", "aFChunk", "in.docx"), "word/in.docx", string(data))
	}
	doc, err := extract.File(t.Context(), "a.docx", data)
	if n := strings.Count(doc.Text, "outer"); err != nil || n > 51 {
		t.Error(n, err)
	}
}

// odtOf packs a text; its styles are up, down, struck, hidden, tiny, white and Symbol.
func odtOf(body string, more ...string) []byte {
	style := func(name, properties string) string {
		return `<style:style style:name="` + name + `" style:family="text"><style:text-properties ` + properties + `/></style:style>`
	}
	return pack(append([]string{"mimetype", "application/vnd.oasis.opendocument.text", "content.xml", `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:style="s" ` +
		`xmlns:fo="f" xmlns:table="b" xmlns:draw="d" xmlns:xlink="l"><office:automatic-styles>` + style("up", `style:text-position="super 58%"`) +
		style("down", `style:text-position="-25% 58%"`) + style("struck", `style:text-line-through-style="solid"`) + style("hidden", `text:display="none"`) +
		style("tiny", `fo:font-size="1pt"`) + style("white", `fo:color="#ffffff"`) + style("Symbol", `style:font-name="Symbol"`) +
		`</office:automatic-styles><office:body><office:text>` + body + `</office:text></office:body></office:document-content>`}, more...)...)
}

func tspan(style, text string) string {
	return `<text:span text:style-name="` + style + `">` + text + "</text:span>"
}

func ocell(attributes, text string) string {
	return "<table:table-cell " + attributes + "><text:p>" + text + "</text:p></table:table-cell>"
}

const covered = "<table:covered-table-cell/>"

func TestODT(t *testing.T) {
	t.Parallel()
	two := `table:number-rows-spanned="2"`
	for name, tc := range map[string]struct{ body, want string }{
		"raised, lowered, struck, hidden": {`<text:tracked-changes><text:p>no</text:p></text:tracked-changes><text:p>The load is 10` + tspan("up", "6") + " N on H" + tspan("down", "2") + "O" +
			tspan("hidden", "x") + tspan("tiny", "x") + tspan("white", "x") + ", " + tspan("struck", "900 ") + `950 euros, <text:ruby><text:ruby-base>三百</text:ruby-base><text:ruby-text>x</text:ruby-text></text:ruby>` +
			`<text:note><text:note-citation>12</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note>.</text:p>`,
			"The load is 10^6 N on H2O, 950 euros, 三百.\n\nA note."},
		"symbols": {"<text:p>" + tspan("Symbol", "\uf0b1") + "3 mm and 5 " + tspan("Symbol", "m") + "m</text:p>", "±3 mm and 5 µm"},
		"spans": {`<table:table><table:table-header-rows><table:table-row>` + ocell(two, "Port") + ocell(`table:number-columns-spanned="2"`, "Boats") + covered + ocell(two, "Crew") +
			"</table:table-row><table:table-row>" + covered + ocell("", "2023") + ocell("", "2024") + covered + "</table:table-row></table:table-header-rows><table:table-row>" +
			ocell(two, "Emloak") + ocell("", "11") + ocell("", "12") + ocell("", "40") + "</table:table-row><table:table-row>" + covered + ocell("", "13") + ocell("", "14") +
			ocell("", "41") + "</table:table-row></table:table>", wantSpans},
		"repeated and hidden": {`<table:table><table:table-row>` + ocell(`table:number-columns-repeated="2"`, "a") + ocell("", "b") + `</table:table-row><table:table-row table:visibility="collapse">` +
			ocell("", "no") + `</table:table-row><table:table-row table:number-rows-repeated="2">` + ocell("", "1") + ocell("", "2") + ocell("", "3") +
			`</table:table-row><table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16000"/></table:table-row></table:table>`,
			"| a | a | b |\n| 1 | 2 | 3 |\n| 1 | 2 | 3 |"},
		"a hidden section": {`<text:section text:display="none"><text:p>no</text:p></text:section><text:section><text:p>yes</text:p></text:section>`, "yes"},
		"a formula":        {`<text:p>It is <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>.</text:p>`, "It is x^2."},
		"a chart":          {`<text:p>See <draw:frame><draw:object xlink:href="./Object 2"/></draw:frame></text:p>`, "See\n\nBoats\n\n| Port | 2023 |\n| Emloak | 11 |"},
	} {
		doc, err := extract.File(t.Context(), "a.odt", odtOf(tc.body, "Object 1/content.xml", `<math xmlns="m"><semantics><msup><mi>x</mi><mn>2</mn></msup><annotation encoding="StarMath 5.0">x^2</annotation></semantics></math>`,
			"Object 2/content.xml", `<c xmlns:table="b" xmlns:chart="c" xmlns:text="t"><chart:title><text:p>Boats</text:p></chart:title><table:table><table:table-row>`+ocell("", "Port")+ocell("", "2023")+
				`</table:table-row><table:table-row>`+ocell("", "Emloak")+ocell("", "11")+`</table:table-row></table:table></c>`))
		if err != nil || doc.Text != tc.want {
			t.Errorf("%s: %v, got:\n%s\nwant:\n%s", name, err, doc.Text, tc.want)
		}
		check(t, doc)
	}
	locked := odtOf("<text:p>x</text:p>", "META-INF/manifest.xml", "<m><encryption-data/></m>")
	if _, err := extract.File(t.Context(), "a.odt", locked); !errors.Is(err, extract.ErrEncrypted) {
		t.Error(err)
	}
}

func FuzzODT(f *testing.F) {
	f.Add(`<text:h text:outline-level="2">x</text:h><text:list><text:list-item><text:p>a` + tspan("up", "2") + `<text:s/></text:p></text:list-item></text:list><table:table><table:table-row>` + ocell("", "a") + "</table:table-row></table:table>")
	f.Fuzz(func(t *testing.T, body string) {
		if doc, err := office.ODT(odtOf(body)); err == nil && doc.Text != "" {
			check(t, doc)
		}
	})
}

// rtfOf is a document with the fonts Times (0), Symbol (1) and a Cyrillic one (2), and white as color 1.
func rtfOf(body string) []byte {
	return []byte(`{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\froman\fcharset0 Times;}{\f1\froman\fcharset2 Symbol;}{\f2\fcharset204{\*\falt Arial;}Arial Cyr;}{\f3\fcharset128 Mincho;}}` +
		`{\colortbl;\red255\green255\blue255;\red0\green0\blue0;}{\stylesheet{\s1\outlinelevel0 heading 1;}{\*\cs10 Default;}}` +
		`{\info{\title The Load}{\author Ane Holt}{\creatim\yr2024\mo5\dy6}}{\header Head line\par}` + body + "}")
}

func TestRTF(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ body, want string }{
		"raised, lowered, struck, hidden": {`\pard\plain\fs22 The load is 10{\super 6} N on 25 m{\up6 2} of H{\sub 2}O, {\strike 900 }{\deleted 920 }950 euros{\super\chftn{\footnote\pard\plain{\super\chftn} A note.}}.` +
			`{\v hidden }{\cf1 white }{\fs2 tiny }{\*\unknown x}\par`, "The load is 10^6 N on 25 m^2 of H2O, 950 euros.\n\nA note."},
		"symbols":          {`{\f1\'b1}3 mm and 5 {\f1 m}m {\field{\*\fldinst SYMBOL 109}{\fldrslt x}}`, "±3 mm and 5 µm x"},
		"code pages":       {"F\\'e4hre \\u8364?5 {\\f2\\'cf\\'f0\\'e8} {\\f3\\'93\\'fa\\'96\\'7b} {\\uc0\\u-10179\\u-8704 }x\\line y\\emdash z", "Fähre €5 При 日本 😀x y—z"},
		"lists":            {`{\listtext\pard\plain\f1 \'b7\tab}one\par{\listtext 2.\tab}two\par{\pntext b)\tab}three\par`, "- one\n2. two\n- b) three"},
		"binary and parts": {"a{\\pict\\pngblip 8950}{\\*\\shppict{\\pict\\bin3 }}}}}b {\\shp{\\*\\shpinst{\\sp{\\sn x}{\\sv y}}{\\shptxt\\pard In a box.\\par}}}", "ab\n\nIn a box."},
		"formula":          {`{\mmath{\*\moMath{\mf{\mfPr x}{\mnum{\mr a+b}}{\mden{\msSup{\me{\mr x}}{\msup{\mr 2}}}}}}}`, "(a+b)/(x^2)"},
		"spans": {`\trowd\trhdr\clvmgf\cellx1000\cellx3000\cellx4000\pard\intbl Port\cell Boats\cell Crew\cell\row\trowd\trhdr\clvmrg\cellx1000\cellx2000\cellx3010\clvmrg\cellx4000` +
			`\pard\intbl\cell 2023\cell 2024\cell\cell\row\trowd\cellx1000\cellx2000\cellx3000\cellx4000\pard\intbl Emloak\cell 11\cell 12\cell 40\cell\row` +
			`\trowd\clvmrg\cellx1000\cellx2000\cellx3000\cellx4000\pard\intbl\cell 13\cell 14\cell 41\cell\row\pard`, wantSpans},
		"merged": {`\trowd\clmgf\cellx1000\clmrg\cellx2000\cellx3000 a\cell\cell b\cell\row\trowd\cellx1000\cellx2000\cellx3000 1\cell 2\cell 3\cell\row\pard After.\par`, "| a | a | b |\n| 1 | 2 | 3 |\n\nAfter."},
	} {
		doc, err := extract.File(t.Context(), "a.rtf", rtfOf(tc.body))
		if err != nil || doc.Text != tc.want || doc.Title != "The Load" || doc.Date != "2024-05-06" || doc.Authors[0] != "Ane Holt" {
			t.Errorf("%s: %v, %q %q %q, got:\n%s\nwant:\n%s", name, err, doc.Title, doc.Date, doc.Authors, doc.Text, tc.want)
		}
		check(t, doc)
	}
	doc, err := extract.File(t.Context(), "a.rtf", rtfOf(`\pard\s1 Loads\par\pard Text.`))
	if err != nil || len(doc.Sections) != 2 || doc.Sections[1].Path[0] != "Loads" {
		t.Errorf("%v %+v", err, doc.Sections)
	}
	if _, err := extract.File(t.Context(), "a.rtf", rtfOf(strings.Repeat("{", 5000))); !errors.Is(err, extract.ErrDamaged) {
		t.Error(err)
	}
}

func FuzzRTF(f *testing.F) {
	f.Add(`\trowd\clmgf\cellx1000\clmrg\cellx2000 a\cell\cell\row{\super 6}{\footnote x}\'e4\u8364?{\mf{\mnum a}}`)
	f.Fuzz(func(t *testing.T, body string) {
		if doc, err := office.RTF(rtfOf(body)); err == nil && doc.Text != "" {
			check(t, doc)
		}
	})
}

// The head of a document as it is printed counts more than the properties of its file.
func TestOfficeHead(t *testing.T) {
	t.Parallel()
	const line, rest = "Voss & Ahr Consulting Engineers. Final report, 3 September 2025.", "The load of the bridge was measured in spring by two teams."
	amp := strings.ReplaceAll(line, "&", "&amp;")
	for name, data := range map[string][]byte{
		"a.docx": makeDOCX(wp("", wr("Bridge of Emloak")) + wp("", wr(amp)) + wp("", wr(rest))),
		"a.odt":  odtOf("<text:h>Bridge of Emloak</text:h><text:p>"+amp+"</text:p><text:p>"+rest+"</text:p>", "meta.xml", "<m><creation-date>2001-01-01T00:00:00</creation-date></m>"),
		"a.rtf":  rtfOf(`\pard\s1 Bridge of Emloak\par\pard ` + line + `\par ` + rest + `\par`),
		"a.pptx": pptxOf(shape("title", "Bridge of Emloak") + shape("", amp) + shape("", rest)),
	} {
		doc, err := extract.File(t.Context(), name, data)
		if err != nil || doc.Publisher != "Voss & Ahr Consulting Engineers" || doc.Date != "2025-09-03" {
			t.Errorf("%s: %v, %q, %q", name, err, doc.Publisher, doc.Date)
		}
	}
}

// Repeated cells of a small file do not become a large document.
func TestODTRepeats(t *testing.T) {
	t.Parallel()
	row := `<table:table-row table:number-rows-repeated="1000">` +
		ocell(`table:number-columns-repeated="1000"`, strings.Repeat("words ", 100)) + "</table:table-row>"
	doc, err := extract.File(t.Context(), "a.odt", odtOf("<table:table>"+strings.Repeat(row, 2)+"</table:table>"))
	if err != nil || len(doc.Text) < 1000 || len(doc.Text) > 16<<20 {
		t.Errorf("%d bytes, %v", len(doc.Text), err)
	}
}
