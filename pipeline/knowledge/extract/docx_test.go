package extract_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/pipeline/knowledge/extract/office"
)

const docxStylesXML = `<w:styles xmlns:w="w">
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="Kapitel"/><w:basedOn w:val="berschrift1"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="Verzeichnis1"><w:name w:val="toc 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Banner"><w:name w:val="Banner"/><w:pPr><w:shd w:fill="112233"/></w:pPr></w:style>
<w:style w:type="character" w:styleId="Geheim"><w:name w:val="Geheim"/><w:rPr><w:vanish/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="Source Code"/></w:style>
</w:styles>`

const docxNumbering = `<w:numbering xmlns:w="w">
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="x"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="3"/></w:lvlOverride>
<w:lvlOverride w:ilvl="1"><w:startOverride w:val="5"/></w:lvlOverride></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>
</w:numbering>`

const docxNotes = `<w:footnotes xmlns:w="w"><w:footnote w:type="separator" w:id="0"><w:p><w:r><w:t>no</w:t></w:r></w:p></w:footnote>
<w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t xml:space="preserve"> Measured in 2023.</w:t></w:r></w:p></w:footnote></w:footnotes>`

// makeDOCX packs a body with styles, numbering, notes and properties.
func makeDOCX(body string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range [][2]string{
		{"[Content_Types].xml", `<Types/>`},
		{"_rels/.rels", `<Relationships><Relationship Type="http://x/officeDocument" Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="w" xmlns:mc="mc" xmlns:m="m"><w:body>` + body + `<w:sectPr/></w:body></w:document>`},
		{"word/styles.xml", docxStylesXML}, {"word/numbering.xml", docxNumbering}, {"word/footnotes.xml", docxNotes},
		{"docProps/core.xml", `<cp xmlns:dc="dc" xmlns:dcterms="t"><dc:title>The Cache</dc:title><dcterms:created>2001-01-01T00:00:00Z</dcterms:created><dcterms:modified>2024-02-03T10:00:00Z</dcterms:modified></cp>`},
	} {
		w, err := z.Create(f[0])
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func wp(properties string, runs ...string) string {
	return "<w:p><w:pPr>" + properties + "</w:pPr>" + strings.Join(runs, "") + "</w:p>"
}

func wr(text string) string { return `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r>` }

func wlist(num, level string) string {
	return `<w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + num + `"/></w:numPr>`
}

func TestDOCX(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, body, want string }{
		{"runs", wp("", wr("One "), `<w:r><w:rPr><w:b/></w:rPr><w:t>word</w:t><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t></w:r>`), "One word two three"},
		{"link", wp("", wr("see "), `<w:hyperlink r:id="x">`+wr("the page")+`</w:hyperlink>`), "see the page"},
		{"tracked changes", wp("", wr("It is "), `<w:del><w:r><w:delText>not </w:delText></w:r></w:del><w:ins>`+wr("now ")+`</w:ins>`, `<w:moveFrom>`+wr("gone ")+`</w:moveFrom>`, wr("so.")), "It is now so."},
		{"deleted paragraph", `<w:del>` + wp("", wr("out")) + `</w:del>` + wp("", wr("in")), "in"},
		{"hidden", wp("", wr("seen"), `<w:r><w:rPr><w:vanish/></w:rPr><w:t> unseen</w:t></w:r>`), "seen"},
		{"no longer hidden", wp("", `<w:r><w:rPr><w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange></w:rPr>`+
			`<w:t>seen</w:t></w:r>`), "seen"},
		{"numbers of two levels that start elsewhere", wp(wlist("4", "1"), wr("a")), "- 2.5 a"},
		{"field", wp("", `<w:r><w:fldChar/></w:r><w:r><w:instrText>PAGEREF x</w:instrText></w:r>`, wr("12")), "12"},
		{"note", wp("", wr("It takes 11 ms."), `<w:r><w:footnoteReference w:id="2"/></w:r>`) + wp("", wr("Next.")), "It takes 11 ms.\n\nMeasured in 2023.\n\nNext."},
		{"bullets", wp(wlist("2", "0"), wr("a")) + wp(wlist("2", "0"), wr("b")), "- a\n- b"},
		{"numbers", wp(wlist("1", "0"), wr("a")) + wp(wlist("1", "1"), wr("b")) + wp(wlist("1", "1"), wr("c")) + wp(wlist("1", "0"), wr("d")) + wp(wlist("3", "0"), wr("e")),
			"1. a\n- 1.1 b\n- 1.2 c\n2. d\n1. e"},
		{"table", `<w:tbl><w:tr><w:tc>` + wp("", wr("Limit")) + `</w:tc><w:tc>` + wp("", wr("Value")) + `</w:tc></w:tr>` +
			`<w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>` + wp("", wr("Memory")) + `</w:tc><w:tc>` + wp("", wr("64 MB")) + wp("", wr("at most")) + `</w:tc></w:tr>` +
			`<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr>` + wp("") + `</w:tc><w:tc>` + wp("", wr("32 MB")) + `</w:tc></w:tr></w:tbl>` + wp("", wr("After.")),
			"| Limit | Value |\n| Memory | 64 MB at most |\n| Memory | 32 MB |\n\nAfter."},
		{"frame", `<w:tbl><w:tr><w:tc>` + wp("", wr("Boxed.")) + `</w:tc></w:tr></w:tbl>`, "Boxed."},
		{"text box", wp("", `<w:r><mc:AlternateContent><mc:Choice><w:txbxContent>`+wp("", wr("In the box."))+`</w:txbxContent></mc:Choice><mc:Fallback>`+wr("twice")+`</mc:Fallback></mc:AlternateContent></w:r>`, wr("Outside.")), "Outside.\n\nIn the box."},
		{"contents", `<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr><w:sdtContent>` + wp("", wr("1 Purpose 3")) + `</w:sdtContent></w:sdt>` +
			wp(`<w:pStyle w:val="Verzeichnis1"/>`, wr("2 Limits 4")) + `<w:sdt><w:sdtContent>` + wp("", wr("Text.")) + `</w:sdtContent></w:sdt>`, "Text."},
		{"code", wp(`<w:pStyle w:val="Code"/>`, wr("if x {")) + wp(`<w:pStyle w:val="Code"/>`, wr("    y()")) + wp(`<w:pStyle w:val="Code"/>`, wr("}")) + wp("", wr("Done.")),
			"```\nif x {\n    y()\n}\n```\n\nDone."},
		{"formula", wp("", wr("so "), `<m:oMath><m:r><m:t>a+b</m:t></m:r></m:oMath>`), "so a+b"},
		{"entity", `<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>` + wp("", wr("a &secret; b")), "a &secret; b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			doc, err := extract.File(t.Context(), "a.docx", makeDOCX(tc.body))
			if err != nil || doc.Text != tc.want {
				t.Errorf("got %v, %q\nwant %q", err, doc.Text, tc.want)
			}
			if doc.Title != "The Cache" || doc.Date != "2024-02-03" {
				t.Errorf("title %q, date %q", doc.Title, doc.Date)
			}
		})
	}
}

func TestDOCXSections(t *testing.T) {
	t.Parallel()
	body := wp(`<w:pStyle w:val="Titel"/>`, wr("The Cache")) +
		wp(`<w:pStyle w:val="berschrift1"/>`+wlist("1", "0"), wr("Purpose")) + wp("", wr("It keeps answers.")) +
		wp(`<w:pStyle w:val="Kapitel"/>`+wlist("1", "1"), wr("Eviction")) + wp("", wr("The oldest goes.")) +
		wp(`<w:outlineLvl w:val="0"/>`, wr("End")) + wp("", wr("That is all."))
	for _, name := range []string{"a.docx", "a.txt"} { // the content counts, not the name
		doc, err := extract.File(t.Context(), name, makeDOCX(body))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range doc.Sections {
			got = append(got, strings.Join(s.Path, " > "))
		}
		if want := []string{"", "1. Purpose", "1. Purpose > 1.1 Eviction", "End"}; !slices.Equal(slices.Compact(got), want) {
			t.Errorf("sections %q, want %q", got, want)
		}
	}
}

func TestDOCXErrors(t *testing.T) {
	t.Parallel()
	good := makeDOCX(wp("", wr("text")))
	bomb := makeDOCX(wp("", wr(strings.Repeat("0", 8<<20))))
	deep := strings.Repeat("<w:tbl><w:tr><w:tc>", 5000) + wp("", wr("x")) + strings.Repeat("</w:tc></w:tr></w:tbl>", 5000)
	for _, tc := range []struct {
		name string
		data []byte
		want error
	}{
		{"cut off", good[:len(good)/2], extract.ErrDamaged},
		{"no zip", []byte("hello"), extract.ErrDamaged},
		{"password", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 rest"), extract.ErrEncrypted},
		{"bomb", bomb, extract.ErrTooLarge},
		{"broken XML", makeDOCX("<w:p><w:r><w:t>a</w:p"), extract.ErrDamaged},
		{"empty", makeDOCX(wp("")), extract.ErrEmpty},
		{"deep", makeDOCX(deep), extract.ErrEmpty},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if doc, err := extract.File(t.Context(), "a.docx", tc.data); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v; text %.50q", err, tc.want, doc.Text)
			}
		})
	}
}

// Whatever stands in the body, the document keeps its promises and the work is bounded.
func FuzzDOCX(f *testing.F) {
	f.Add(wp("", wr("One "), `<w:hyperlink>`+wr("two")+`</w:hyperlink>`, `<w:r><w:footnoteReference w:id="2"/></w:r>`))
	f.Add(`<w:tbl><w:tr><w:tc>` + wp(wlist("1", "0"), wr("a")) + `</w:tc><w:tc>` + wp("", wr("b")) + `</w:tc></w:tr></w:tbl>`)
	f.Add(wp(`<w:pStyle w:val="Kapitel"/>`, wr("h")) + `<w:sdt><w:sdtContent>` + wp(`<w:pStyle w:val="Code"/>`, wr("c")) + `</w:sdtContent></w:sdt>`)
	f.Fuzz(func(t *testing.T, body string) {
		start := time.Now()
		doc, err := office.DOCX(makeDOCX(body), noInner)
		if took := time.Since(start); took > 10*time.Second {
			t.Fatalf("took %v", took)
		}
		if err == nil {
			check(t, doc)
		}
	})
}

func noInner(string, string, []byte) (extract.Document, error) {
	return extract.Document{}, extract.ErrEmpty
}

// A file that is no DOCX at all never panics.
func FuzzDOCXFile(f *testing.F) {
	f.Add(makeDOCX(wp("", wr("text"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		if doc, err := office.DOCX(data, noInner); err == nil {
			check(t, doc)
		}
	})
}
