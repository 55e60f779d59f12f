package pdf_test

import (
	"context"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge/extract/pdf"
	"nightdesk/pipeline/lineartest"
)

// questions is a context that ends when it has been asked so many times whether it has ended.
type questions struct {
	context.Context
	left int
}

func (q *questions) Err() error {
	if q.left--; q.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestHostile: what nests without end neither exhausts the stack nor outlives the context, and takes no longer than its
// length allows.
func TestHostile(t *testing.T) {
	t.Parallel()
	const size = 500_000
	fill := func(before, unit string) [2]string {
		return [2]string{before + strings.Repeat(unit, size/16/len(unit)), before + strings.Repeat(unit, size/len(unit))}
	}
	one := func(body string) [2]string { return [2]string{body, body} }
	for name, bodies := range map[string][2]string{
		"arrays":     fill("1 0 obj ", "["),
		"dicts":      fill("1 0 obj ", "<</A"),
		"chain":      fill("1 0 obj ", "[ 1 0 obj "),
		"trailers":   fill("", "trailer ["),
		"references": fill("", "/XRef /ObjStm obj "),
		"self": one("1 0 obj << /Type /Catalog /Pages 1 0 R /Kids [1 0 R 1 0 R] /Contents 1 0 R >> endobj " +
			"trailer << /Root 1 0 R >>"),
		"forms": one("1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj 2 0 obj << /Kids [3 0 R] >> endobj " +
			"3 0 obj << /Type /Page /Contents 4 0 R /Resources << /XObject << /X 4 0 R >> >> >> endobj " +
			"4 0 obj << /Subtype /Form /Length 60 >> stream\n" + strings.Repeat("/X Do ", 10) +
			"\nendstream endobj trailer << /Root 1 0 R >>"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lineartest.Check(t, name, bodies[0], bodies[1], func(body string) {
				ctx := &questions{t.Context(), 1000}
				if f, err := pdf.Open(ctx, []byte("%PDF-1.7\n"+body)); err == nil {
					_, _ = f.Words()
				}
				if ctx.left < -10 {
					t.Errorf("went on for %d questions behind the end of the context", -ctx.left)
				}
			})
		})
	}
}
