package knowledge_test

import (
	"fmt"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge"
)

// smallPDF is a PDF with these pages, each of lines; one without lines has no text.
func smallPDF(pages ...[]string) string {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n2 0 obj << /Type /Pages /MediaBox [0 0 595 842] /Kids [")
	for i := range pages {
		fmt.Fprintf(&b, "%d 0 R ", 10+2*i)
	}
	b.WriteString("] >> endobj\n3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj\n")
	for i, lines := range pages {
		content := "BT /F 11 Tf 13 TL 70 600 Td (" + strings.Join(lines, ") Tj T* (") + ") Tj ET"
		fmt.Fprintf(&b, "%d 0 obj << /Type /Page /Resources << /Font << /F 3 0 R >> >> /Contents %d 0 R >> endobj\n", 10+2*i, 11+2*i)
		fmt.Fprintf(&b, "%d 0 obj << /Length %d >>\nstream\n%s\nendstream endobj\n", 11+2*i, len(content), content)
	}
	b.WriteString("trailer << /Root 1 0 R >>\n")
	return b.String()
}

// A passage of a PDF names the page on which it begins, also behind pages without text.
func TestPagesOfPDF(t *testing.T) {
	t.Parallel()
	tale := func(animal string) []string {
		var lines []string
		for i := range 20 {
			lines = append(lines, fmt.Sprintf("The %s of day %d sleeps in the reeds until the sun is gone, and then", animal, i),
				"it walks along the water and looks for what the night has left.")
		}
		return lines
	}
	base, dir := create(t), t.TempDir()
	files{
		"handbook.pdf": smallPDF(tale("heron"), nil, tale("otter"), tale("badger")),
		"scan.pdf":     smallPDF(nil, nil),
	}.write(t, dir)
	report, err := base.Ingest(t.Context(), []string{dir}, nil)
	if err != nil || report.Added != 1 || len(report.Skipped) != 1 || !strings.Contains(report.Skipped[0].Reason, "run OCR first") {
		t.Fatalf("report %+v, %v", report, err)
	}
	for animal, page := range map[string]int{"heron": 1, "otter": 3, "badger": 4} {
		found, err := base.Search(t.Context(), animal, 20, knowledge.Naive)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %d passages", animal, err, len(found))
		}
		for _, p := range found {
			if strings.HasPrefix(p.Text, "The "+animal) && p.Page != page {
				t.Errorf("%s: page %d, want %d: %.60q", animal, p.Page, page, p.Text)
			}
		}
	}
}
