package extract_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge/extract"
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
