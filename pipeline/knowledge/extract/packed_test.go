package extract_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/pipeline/knowledge/extract/office"
)

// pack makes a zip file of parts, given as name and content in turn.
func pack(parts ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err == nil {
			_, err = w.Write([]byte(parts[i+1]))
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

func relations(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 3 {
		fmt.Fprintf(&b, `<Relationship Id="%s" Type="http://x/%s" Target="%s"/>`, pairs[i], pairs[i+1], pairs[i+2])
	}
	return "<Relationships>" + b.String() + "</Relationships>"
}

// shape is a text of a slide; kind: of its placeholder, empty for none.
func shape(kind string, paragraphs ...string) string {
	ph := ""
	if kind != "" {
		ph = `<p:nvSpPr><p:nvPr><p:ph type="` + kind + `"/></p:nvPr></p:nvSpPr>`
	}
	text := ""
	for _, p := range paragraphs {
		text += "<a:p><a:r><a:t>" + p + "</a:t></a:r></a:p>"
	}
	return "<p:sp>" + ph + "<p:txBody>" + text + "</p:txBody></p:sp>"
}

func slide(shapes ...string) string {
	return `<p:sld xmlns:p="p" xmlns:a="a" xmlns:mc="mc"><p:cSld><p:spTree>` + strings.Join(shapes, "") + `</p:spTree></p:cSld></p:sld>`
}

func presentation() []byte {
	table := `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>Year</a:t></a:r></a:p></a:txBody></a:tc>` +
		`<a:tc><a:txBody><a:p><a:r><a:t>Revenue</a:t></a:r></a:p></a:txBody></a:tc></a:tr><a:tr><a:tc><a:txBody><a:p><a:r><a:t>2025</a:t></a:r></a:p></a:txBody></a:tc>` +
		`<a:tc><a:txBody><a:p><a:r><a:t>444</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`
	return pack(
		"[Content_Types].xml", "<Types/>",
		"ppt/presentation.xml", `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", relations("rId1", "slide", "slides/slide1.xml", "rId2", "slide", "slides/slide2.xml"),
		"ppt/slides/slide2.xml", slide(shape("sldNum", "1"), shape("body", "The cache keeps answers.", "Each has an end."), shape("title", "Purpose"),
			`<mc:AlternateContent><mc:Choice>`+shape("", "Drawn once.")+`</mc:Choice><mc:Fallback>`+shape("", "Drawn twice.")+`</mc:Fallback></mc:AlternateContent>`),
		"ppt/slides/_rels/slide2.xml.rels", relations("rId1", "notesSlide", "../notesSlides/notesSlide1.xml"),
		"ppt/notesSlides/notesSlide1.xml", slide(shape("sldImg"), shape("body", "Say that it is bounded."), shape("sldNum", "1")),
		"ppt/slides/slide1.xml", slide(shape("", "No title here."), table),
		"docProps/core.xml", `<cp xmlns:dc="dc" xmlns:dcterms="t"><dc:title>The Cache</dc:title><dcterms:modified>2024-02-03T10:00:00Z</dcterms:modified></cp>`,
	)
}

func TestPPTX(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"deck.pptx", "deck.docx"} { // the content counts, not the name
		doc, err := extract.File(t.Context(), name, presentation())
		if err != nil {
			t.Fatal(err)
		}
		want := "- The cache keeps answers.\n- Each has an end.\n\nDrawn once.\n\n- Say that it is bounded.\n\nNo title here.\n\n| Year | Revenue |\n| 2025 | 444 |"
		if doc.Text != want || doc.Title != "The Cache" || doc.Date != "2024-02-03" {
			t.Errorf("%q, %s, text:\n%s", doc.Title, doc.Date, doc.Text)
		}
		if want := []int{0, strings.Index(doc.Text, "No title")}; !slices.Equal(doc.Pages, want) {
			t.Errorf("pages %v, want %v", doc.Pages, want)
		}
		if s := doc.Sections; len(s) != 3 || s[1].Path[0] != "Purpose" || s[2].Path[0] != "Slide 2" {
			t.Errorf("sections %+v", s)
		}
		check(t, doc)
	}
}

func epub(extra ...string) []byte {
	return pack(append([]string{
		"mimetype", "application/epub+zip",
		"META-INF/container.xml", `<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
		"OEBPS/book.opf", `<package xmlns:dc="dc"><metadata><dc:title>The Tides</dc:title><dc:date>2021-05-06</dc:date></metadata><manifest>
			<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/><item id="b" href="text/two%20b.xhtml" media-type="application/xhtml+xml"/>
			<item id="a" href="text/one.xhtml" media-type="application/xhtml+xml"/><item id="c" href="cover.jpg" media-type="image/jpeg"/></manifest>
			<spine><itemref idref="n"/><itemref idref="c"/><itemref idref="a"/><itemref idref="b"/><itemref idref="missing"/></spine></package>`,
		"OEBPS/nav.xhtml", "<html><body><nav><a href='text/one.xhtml'>One</a></nav></body></html>",
		"OEBPS/text/one.xhtml", "<html><head><title>x</title></head><body><h1>Spring tides</h1><p>They are strong.</p></body></html>",
		"OEBPS/text/two b.xhtml", "<html><body><h1 id='neap'>Neap tides</h1><p>They are weak.</p></body></html>",
	}, extra...)...)
}

func TestEPUB(t *testing.T) {
	t.Parallel()
	doc, err := extract.File(t.Context(), "tides.epub", epub())
	if err != nil {
		t.Fatal(err)
	}
	if doc.Text != "They are strong.\n\nThey are weak." || doc.Title != "The Tides" || doc.Date != "2021-05-06" {
		t.Errorf("%q, %s, text:\n%s", doc.Title, doc.Date, doc.Text)
	}
	if s := doc.Sections; len(s) != 3 || s[1].Path[0] != "Spring tides" || s[2].Path[0] != "Neap tides" {
		t.Errorf("sections %+v", s)
	}
	check(t, doc)
}

// Programs write the names of parts in another case than their references.
func TestEPUBNames(t *testing.T) {
	t.Parallel()
	doc, err := extract.File(t.Context(), "a.epub", pack("META-INF/container.xml", `<c><rootfile full-path="book.opf"/></c>`,
		"book.opf", `<package><manifest><item id="a" href="Text/One.xhtml" media-type="application/xhtml+xml"/></manifest>
			<spine><itemref idref="a"/></spine></package>`, "text/ONE.xhtml", "<p>They are strong.</p>"))
	if err != nil || doc.Text != "They are strong." {
		t.Errorf("%v, %q", err, doc.Text)
	}
}

func TestPackedErrors(t *testing.T) {
	t.Parallel()
	bomb := slide(shape("body", strings.Repeat("0", 8<<20)))
	for _, tc := range []struct {
		name, file string
		data       []byte
		want       error
	}{
		{"an EPUB that is encrypted", "a.epub", epub("META-INF/encryption.xml", `<e><CipherReference URI="OEBPS/text/one.xhtml"/></e>`), extract.ErrEncrypted},
		{"an EPUB without chapters", "a.epub", pack("META-INF/container.xml", `<c><rootfile full-path="b.opf"/></c>`, "b.opf", "<package/>"), extract.ErrDamaged},
		{"an EPUB without a book", "a.epub", pack("META-INF/container.xml", "<c/>"), extract.ErrBinary},
		{"a PPTX without slides", "a.pptx", pack("ppt/presentation.xml", "<p/>"), extract.ErrBinary},
		{"a PPTX that unpacks to much", "a.pptx", pack("ppt/presentation.xml", "<p/>", "ppt/slides/slide1.xml", bomb), extract.ErrTooLarge},
		{"a PPTX that is broken", "a.pptx", pack("ppt/presentation.xml", "<p/>", "ppt/slides/slide1.xml", "<p:sld><a:t>x</a"), extract.ErrDamaged},
		{"a PPTX that is cut off", "a.pptx", presentation()[:400], extract.ErrDamaged},
		{"a PPTX with a password", "a.pptx", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), extract.ErrEncrypted},
	} {
		if doc, err := extract.File(t.Context(), tc.file, tc.data); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, %.80q, want %v", tc.name, err, doc.Text, tc.want)
		}
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"commas":     {"name,city\n\"Aldor, Inc.\",Bonn\nBerg,Köln\n", "| name | city |\n| Aldor, Inc. | Bonn |\n| Berg | Köln |"},
		"semicolons": {"name;price\nA;1,5\nB;2,5\n", "| name | price |\n| A | 1,5 |\n| B | 2,5 |"},
		"tabs":       {"a\tb\n1\t2\n", "| a | b |\n| 1 | 2 |"},
		"prose":      {"It rained, and we stayed.\nThen it stopped; we left, all of us, late.\n", "It rained, and we stayed. Then it stopped; we left, all of us, late."},
	} {
		doc, err := extract.File(t.Context(), "a.csv", []byte(tc.text))
		if err != nil || doc.Text != tc.want {
			t.Errorf("%s: %v, %q, want %q", name, err, doc.Text, tc.want)
		}
	}
	long := "name;value\n" + strings.Repeat("something of some length;12345\n", 200)
	doc, err := extract.File(t.Context(), "a.csv", []byte(long))
	if err != nil || strings.Count(doc.Text, "| name | value |") < 5 || strings.Count(doc.Text, "12345") != 200 {
		t.Errorf("%v: %d headers, %d rows", err, strings.Count(doc.Text, "| name | value |"), strings.Count(doc.Text, "12345"))
	}
	check(t, doc)
}

func FuzzPacked(f *testing.F) {
	f.Add("<a:p><a:r><a:t>x</a:t></a:r></a:p>", "<html><p>x", "a;b")
	f.Fuzz(func(t *testing.T, shapes, chapter, rows string) {
		for _, doc := range []func() (extract.Document, error){
			func() (extract.Document, error) {
				return office.PPTX(pack("ppt/presentation.xml", "<p/>", "ppt/slides/slide1.xml", slide(shapes)), noInner)
			},
			func() (extract.Document, error) { return office.EPUB(epub("OEBPS/text/one.xhtml", chapter)) },
			func() (extract.Document, error) { return extract.CSV(strings.ToValidUTF8(rows, "")), nil },
		} {
			if d, err := doc(); err == nil && d.Text != "" {
				check(t, d)
			}
		}
	})
}
