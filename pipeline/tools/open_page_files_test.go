package tools_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"nightdesk/pipeline/tools"
)

// smallPDF returns a PDF of one page with these lines.
func smallPDF(lines ...string) string {
	var content strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&content, "BT /F1 11 Tf 1 0 0 1 72 %d Tm (%s) Tj ET\n", 760-14*i, l)
	}
	return "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 595 842] >>\nendobj\n" +
		"3 0 obj\n<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>\nendobj\n" +
		"4 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>\nendobj\n" +
		fmt.Sprintf("5 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n", content.Len(), content.String()) +
		"6 0 obj\n<< /Title (Ferry statistics) /CreationDate (D:20250301120000Z) >>\nendobj\ntrailer\n<< /Root 1 0 R /Info 6 0 R /Size 7 >>\n%%EOF\n"
}

// TestOpenPageFiles: a page may be a file. Its type is that of the server, otherwise it is detected.
func TestOpenPageFiles(t *testing.T) {
	t.Parallel()
	paper := smallPDF("The ferry carried 412 passengers on an average day of the year 2024,", "which is nine percent more than in the year before it.")
	tool, site := opener(t, func(w http.ResponseWriter, r *http.Request) {
		kind, body, _ := strings.Cut(map[string]string{
			"/report.pdf":   "application/pdf|" + paper,
			"/download":     "application/octet-stream|" + paper,
			"/README.md":    "text/plain; charset=utf-8|# Tern\n\nA database.\n\n## Use\n\n```\ntern start\n```\n",
			"/notes/a.txt":  "text/plain|Notes on ferries.\n\nThe second paragraph.\n",
			"/redirect.pdf": "",
		}[r.URL.Path], "|")
		switch {
		case r.URL.Path == "/redirect.pdf":
			http.Redirect(w, r, "/report.pdf", http.StatusFound)
		case kind == "":
			http.NotFound(w, r)
		default:
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Last-Modified", "Tue, 03 Feb 2026 10:00:00 GMT")
			_, _ = io.WriteString(w, body)
		}
	})
	for _, tc := range []struct{ path, url, title, date, text string }{
		{"/report.pdf", "/report.pdf", "Ferry statistics", "2025-03-01", "The ferry carried 412 passengers on an average day of the year 2024, which is nine percent more"},
		{"/download", "/download", "Ferry statistics", "2025-03-01", "The ferry carried 412 passengers"},
		{"/redirect.pdf", "/report.pdf", "Ferry statistics", "2025-03-01", "The ferry carried 412 passengers"},
		// Last-Modified is the time of the file, and no date that the text states
		{"/README.md", "/README.md", "Tern", "", "A database.\n\n## Use\n\n```\ntern start\n```"},
		{"/notes/a.txt", "/notes/a.txt", "a.txt", "", "Notes on ferries.\n\nThe second paragraph."},
	} {
		result, err := tool.Call(t.Context(), tools.Call{Query: site + tc.path})
		if err != nil || result.Failed || len(result.Sources) != 1 {
			t.Errorf("%s: %+v, %v", tc.path, result, err)
			continue
		}
		if s := result.Sources[0]; s.URL != site+tc.url || s.Title != tc.title || s.Date != tc.date || !strings.Contains(s.Text, tc.text) {
			t.Errorf("%s: %+v\n%q", tc.path, s, s.Text)
		}
	}
}
