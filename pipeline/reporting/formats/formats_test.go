package formats_test

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"os"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge/extract/office"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/formats"
)

const figures = "figures/"

var svgName, pngName = figures + strings.Repeat("a", 64) + ".svg", figures + strings.Repeat("b", 64) + ".png"

// report has everything that reports have.
var written = `# How the log works

The log is **written first** [[CIT-1-01](#ref-cit-1-01)]; see the [manual](https://example.org/a?b=1&c=2) and *also* ` + "`wal_level`" + `.

## First part

1. one
2. two
   - nested

> Quoted.

It takes 900 s [[CIT-1-02](#ref-cit-1-02)].

` + "```sql\nSELECT 1;\n\nSELECT 2;\n```" + `

| Kind | Rows |
|---|---:|
| all \| some | 12 [[CIT-1-01](#ref-cit-1-01)] |

![A curve](../cache/run_1/` + svgName + `)

![A dot](../cache/run_1/` + pngName + `)

## References

**Guide** · ` + "`guide.html`" + `  
<a id="ref-cit-1-01"></a> [CIT-1-01] The log, page 3  
<a id="ref-cit-1-02"></a> [CIT-1-02] [Output of a program](../cache/run_1/pages/` + strings.Repeat("c", 64) + `.txt)

*How this report was made: by hand.*
`

func full(t testing.TB) formats.Report {
	t.Helper()
	var dot bytes.Buffer
	if err := png.Encode(&dot, image.NewNRGBA(image.Rect(0, 0, 40, 20))); err != nil {
		t.Fatal(err)
	}
	tree := report.Read(written)
	report.EachStatement(tree.Sections[1].Blocks, func(s report.Statement) {
		if s.Text() == "It takes 900 s." {
			s.State = report.StateMarked
		}
	})
	return formats.Report{
		Tree: tree, Title: "How the log works", Language: "en",
		Files: map[string]string{"guide.html": "file:///docs/a%20guide.html"},
		Notes: map[string]formats.Note{
			"ref-cit-1-01": {Title: "Guide", Passages: []formats.Passage{{Quote: "Recovery reads all rows of the log."}, {Before: "A log has rules.", Quote: "Every change is written first to the log.", After: "Then come the pages."}}},
			"ref-cit-1-02": {Title: "Output", Passages: []formats.Passage{{Quote: "It takes 300 s."}}},
		},
		Figures: map[string][]byte{svgName: []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="4cm" height="2cm"/>`), pngName: dot.Bytes()},
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	body, err := formats.HTML(full(t))
	if err != nil {
		t.Fatal(err)
	}
	checkPage(t, body)
	page := string(body)
	for name, want := range map[string]string{
		"language":             `<html lang="en">`,
		"nothing is loaded":    `default-src 'none'; img-src data:; style-src 'sha256-`,
		"citation, passage":    `<a id="cite-1" href="#ref-cit-1-01">[CIT-1-01]</a><span class="note"><b>Guide</b><q>A log has rules. <strong>Every change is written first to the log.</strong> Then come the pages.</q></span>`,
		"link":                 `<a href="https://example.org/a?b=1&amp;c=2">manual</a>`,
		"verdict":              `<mark>[unsupported]</mark>`,
		"ways back":            `href="#cite-1">↩` + "\ufe0e" + `1</a> <a class="back" href="#cite-3">2</a>`,
		"passages":             `<summary>“Recovery reads all rows of the log.”</summary>`,
		"code":                 "<pre><code>SELECT 1;\n\nSELECT 2;</code></pre>",
		"table":                `<td>all | some</td><td class="right">12 <span class="cite">`,
		"nested list":          "<li>two<ul>\n<li>nested</li>\n</ul>\n</li>",
		"figure":               `<img alt="A curve" src="data:image/svg+xml;base64,`,
		"bitmap":               `<img alt="A dot" src="data:image/png;base64,`,
		"reference":            `<div class="ref" id="ref-cit-1-02"><p>[CIT-1-02] <a href="../cache/run_1/pages/cccc`,
		"document":             "<p><strong>Guide</strong> · <a href=\"file:///docs/a%20guide.html\"><code>guide.html</code></a></p>",
		"inline code":          `<code>wal_level</code>`,
		"how it was made":      `<p><em>How this report was made: by hand.</em></p>`,
		"headings have places": `<h2 id="part-2">First part</h2>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s: the page has no %s", name, want)
		}
	}
	if t.Failed() {
		t.Log(page[strings.Index(page, "<main>"):])
	}
}

func TestDOCX(t *testing.T) {
	t.Parallel()
	body, err := formats.DOCX(full(t))
	if err != nil {
		t.Fatal(err)
	}
	main := checkDocument(t, body)["word/document.xml"]
	for name, want := range map[string]string{
		"citation":  `<w:hyperlink w:anchor="ref_cit_1_01" w:tooltip="Guide: Every change is written first to the log." w:history="1">`,
		"reference": `w:name="ref_cit_1_02"/>`,
		"verdict":   `<w:rStyle w:val="Verdict"/></w:rPr><w:t xml:space="preserve">[unsupported]</w:t>`,
		"list":      `<w:ilvl w:val="1"/><w:numId w:val="2"/>`,
		"size":      `cx="1440000" cy="720000"`, // 4 cm by 2 cm
		"bitmap":    `cx="381000" cy="190500"`,  // 40 by 20 pixels
		"table":     `<w:tblHeader/>`,
	} {
		if !strings.Contains(main, want) {
			t.Errorf("%s: the document has no %s", name, want)
		}
	}
	got, err := office.DOCX(body, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Title != "How the log works" {
		t.Errorf("it is called %q", got.Title)
	}
	for _, want := range []string{"The log is written first [CIT-1-01]; see the manual and also wal_level.", "1. one", "SELECT 2;", "| all | some | 12 [CIT-1-01] |", "[CIT-1-02] Output of a program"} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("another program reads no %q in\n%s", want, got.Text)
		}
	}
	var sections []string
	for _, s := range got.Sections {
		sections = append(sections, strings.Join(s.Path, " > "))
	}
	if all := strings.Join(sections, "|"); !strings.Contains(all, "First part|References") {
		t.Errorf("its headings are %s", all)
	}
}

// Equal reports give equal bytes, in every style of citations.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"model.anchors", "model.numbered", "extractive.anchors", "extractive.numbered"} {
		markdown, err := os.ReadFile("../testdata/" + name + ".golden.md")
		if err != nil {
			t.Fatal(err)
		}
		r := formats.Report{Tree: report.Read(string(markdown))}
		page, document := made(t, r)
		checkPage(t, page)
		checkDocument(t, document)
		samePage, sameDocument := made(t, r)
		if !bytes.Equal(page, samePage) || !bytes.Equal(document, sameDocument) {
			t.Errorf("%s: other bytes", name)
		}
		if cited, linked := bytes.Count(markdown, []byte("](#ref-")), bytes.Count(page, []byte(`class="cite"`)); cited != linked || cited == 0 {
			t.Errorf("%s: %d citations, the page has %d", name, cited, linked)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	for _, format := range formats.Names() {
		long := strings.Repeat("a ", formats.MaxMarkdown)
		if _, err := formats.Make(format, formats.Report{Tree: report.Read(long)}); !errors.Is(err, formats.ErrTooLarge) {
			t.Errorf("%s: %v", format, err)
		}
	}
	deep, _ := made(t, formats.Report{Tree: report.Read(strings.Repeat("> ", 5000) + strings.Repeat("**a *b ", 5000) + "end")})
	if checkPage(t, deep); !bytes.Contains(deep, []byte("end")) {
		t.Error("the text of a deep report is missing")
	}
	if _, err := formats.Make("pdf", formats.Report{}); err == nil {
		t.Error("pdf is made")
	}
	r := full(t)
	r.Figures[svgName] = bytes.Repeat([]byte(" "), formats.MaxFigures)
	page, err := formats.HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte(`alt="A curve"`)) || bytes.Contains(page, []byte(`alt="A dot"`)) || !bytes.Contains(page, []byte("<p>A dot</p>")) {
		t.Error("figures beyond the bound are not shown by their titles")
	}
}
