package extract_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge/extract"
)

// What the first lines of an Office file state takes precedence over what a program wrote into it.
func TestPrintedBeforeFile(t *testing.T) {
	t.Parallel()
	core := `<cp xmlns:dc="dc" xmlns:dcterms="t"><dc:creator>(anonymous)</dc:creator>` +
		`<dcterms:modified>2026-11-26T10:00:00Z</dcterms:modified></cp>`
	for line, want := range map[string]string{
		"9 January 2026": ", 2026-01-09",
		"Facilities Department, Lindenmark Hospital (420 beds). 12 January 2026.": "Facilities Department, Lindenmark Hospital (420 beds), 2026-01-12",
		"The chillers ran for 4,000 hours.":                                       ", 2026-11-26",
	} {
		body := ""
		for _, p := range []string{"Energy at the hospital", line, "The boilers ran until 4 May 2020, and then they stopped for good."} {
			body += `<w:p><w:r><w:t>` + p + `</w:t></w:r></w:p>`
		}
		doc, err := extract.File(t.Context(), "a.docx", pack("docProps/core.xml", core, "word/document.xml",
			`<w:document xmlns:w="w"><w:body>`+body+`</w:body></w:document>`))
		if got := doc.Publisher + ", " + doc.Date; err != nil || got != want || strings.Contains(strings.Join(doc.Authors, ""), "anonymous") {
			t.Errorf("%s: %q by %q, %v", line, got, doc.Authors, err)
		}
	}
}
