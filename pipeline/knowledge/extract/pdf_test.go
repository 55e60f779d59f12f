package extract_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/pipeline/knowledge/extract/pdflayout"
)

// pdfText is a line of a page for makePDF: where it begins, from the lower left corner in points.
type pdfText struct {
	x, y float64
	font string // F1 Helvetica, F2 Helvetica-Bold, F3 Courier
	size float64
	text string
}

// makePDF writes a PDF of A4 pages. extra is put into the trailer; outline are titles with their page from 0.
func makePDF(pages [][]pdfText, title, trailer string, outline []string, at []int) []byte {
	var b bytes.Buffer
	var offsets []int
	object := func(body string) int {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets), body)
		return len(offsets)
	}
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	// 1 catalogue, 2 pages, 3 to 5 fonts, 6 information, then two objects a page, then the outline.
	first := 7
	outlines := first + 2*len(pages)
	root := "<< /Type /Catalog /Pages 2 0 R >>"
	if len(outline) > 0 {
		root = fmt.Sprintf("<< /Type /Catalog /Pages 2 0 R /Outlines %d 0 R >>", outlines)
	}
	object(root)
	kids := ""
	for i := range pages {
		kids += fmt.Sprintf("%d 0 R ", first+2*i)
	}
	object(fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d /MediaBox [0 0 595 842] >>", kids, len(pages)))
	for _, f := range []string{"Helvetica", "Helvetica-Bold", "Courier"} {
		object("<< /Type /Font /Subtype /Type1 /BaseFont /" + f + " /Encoding /WinAnsiEncoding >>")
	}
	object(fmt.Sprintf("<< /Title (%s) /CreationDate (D:20230405120000Z) >>", title))
	for i, lines := range pages {
		var content bytes.Buffer
		for _, l := range lines {
			text := strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(l.text)
			fmt.Fprintf(&content, "BT /%s %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET\n", l.font, l.size, l.x, l.y, text)
		}
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		_, _ = z.Write(content.Bytes())
		_ = z.Close()
		object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >> /Contents %d 0 R >>", first+2*i+1))
		object(fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", packed.Len(), packed.String()))
	}
	if len(outline) > 0 {
		object(fmt.Sprintf("<< /First %d 0 R /Last %d 0 R >>", outlines+1, outlines+len(outline)))
		for i, t := range outline {
			next := ""
			if i+1 < len(outline) {
				next = fmt.Sprintf("/Next %d 0 R", outlines+2+i)
			}
			object(fmt.Sprintf("<< /Title (%s) /Dest [%d 0 R /Fit] %s >>", t, first+2*at[i], next))
		}
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R /Info 6 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, trailer, xref)
	return b.Bytes()
}

// column sets lines below each other.
func column(x, top, pitch float64, font string, size float64, lines ...string) []pdfText {
	var out []pdfText
	for i, l := range lines {
		if l != "" {
			out = append(out, pdfText{x, top - float64(i)*pitch, font, size, l})
		}
	}
	return out
}

func page(parts ...[]pdfText) []pdfText { return slices.Concat(parts...) }

// handbook has running heads, page numbers, a word and a paragraph that go on over the page, headings, a list, a table
// and code.
func handbook() []byte {
	frame := func(n int) []pdfText {
		return page(column(70, 810, 12, "F1", 9, "Handbook of the Cache"), column(290, 30, 12, "F1", 9, fmt.Sprint(n)))
	}
	one := page(frame(1),
		column(70, 750, 20, "F2", 20, "Handbook of the Cache"),
		column(70, 700, 20, "F2", 14, "1 Purpose"),
		column(70, 680, 13, "F1", 10,
			"The cache keeps answers of slow services, so that the same question is asked only once. It was mea-",
			"sured with nine services, and the median answer took eleven milliseconds instead of four hundred.",
			"",
			"A second paragraph stands apart from the first one and says that the memory is bounded at all times."),
		column(70, 600, 20, "F2", 14, "2 Eviction"),
		column(70, 580, 13, "F1", 10,
			"When the memory is full, the entry that was used least recently leaves the cache, unless its owner has"))
	two := page(frame(2),
		column(70, 760, 13, "F1", 10,
			"asked for it to stay until the end of the night. Three rules hold for entries that must stay:"),
		column(80, 730, 13, "F1", 10, "\x95 at most ten of them belong to one owner,", "\x95 none is larger than a megabyte, including its name and",
			"   all that belongs to it,", "\x95 each has an end."),
		column(70, 650, 13, "F3", 10, "func Evict(c *Cache) error {", "    if c.full() {", "        return c.drop(oldest)", "    }", "    return nil", "}"),
		column(70, 550, 20, "F2", 14, "3 Limits"),
		column(70, 530, 13, "F1", 10, "Table 1. The limits of the cache"),
		column(70, 505, 15, "F1", 10, "Limit", "Entries", "Memory", "Owners"),
		column(250, 505, 15, "F1", 10, "Value", "12000", "64 MB", "35"),
		column(400, 505, 15, "F1", 10, "Unit", "pieces", "bytes", "persons"))
	three := page(frame(3), column(70, 760, 13, "F1", 10, "The last page has one sentence, which stands alone."))
	return makePDF([][]pdfText{one, two, {}, three}, "", "", nil, nil)
}

func extractPDF(t *testing.T, data []byte) extract.Document {
	t.Helper()
	doc, err := extract.File(t.Context(), "a.pdf", data)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestPDF(t *testing.T) {
	t.Parallel()
	doc := extractPDF(t, handbook())
	want := "The cache keeps answers of slow services, so that the same question is asked only once. It was measured with nine services, and the median answer took eleven milliseconds instead of four hundred.\n\n" +
		"A second paragraph stands apart from the first one and says that the memory is bounded at all times.\n\n" +
		"When the memory is full, the entry that was used least recently leaves the cache, unless its owner has asked for it to stay until the end of the night. Three rules hold for entries that must stay:\n\n" +
		"- at most ten of them belong to one owner,\n- none is larger than a megabyte, including its name and all that belongs to it,\n- each has an end.\n\n" +
		"```\nfunc Evict(c *Cache) error {\n    if c.full() {\n        return c.drop(oldest)\n    }\n    return nil\n}\n```\n\n" +
		"Table 1. The limits of the cache\n\n" +
		"| Limit | Value | Unit |\n| Entries | 12000 | pieces |\n| Memory | 64 MB | bytes |\n| Owners | 35 | persons |\n\n" +
		"The last page has one sentence, which stands alone."
	if doc.Text != want {
		t.Errorf("text:\n%s\n\nwant:\n%s", doc.Text, want)
	}
	if doc.Title != "Handbook of the Cache" || doc.Date != "2023-04-05" {
		t.Errorf("title %q, date %q", doc.Title, doc.Date)
	}
	var paths []string
	for _, s := range doc.Sections {
		paths = append(paths, strings.Join(s.Path, " > "))
	}
	if !slices.Equal(slices.Compact(paths), []string{"", "1 Purpose", "2 Eviction", "3 Limits"}) {
		t.Errorf("sections %q", paths)
	}
	for i, start := range []string{"The cache", "asked for", "The last page", "The last page"} {
		if !strings.HasPrefix(doc.Text[doc.Pages[i]:], start) {
			t.Errorf("page %d begins with %.20q, want %q", i+1, doc.Text[doc.Pages[i]:], start)
		}
	}
}

func TestPDFColumns(t *testing.T) {
	t.Parallel()
	left := []string{"The left column is read before the", "right one, although both stand at", "the same height of the page, line", "by line, and the type is the same", "in all of it, as in many a paper."}
	right := []string{"A paper goes on here, at the top of", "the right column, with a sentence", "that is long enough to fill the", "lines up to the margin, so that it", "is not taken for a table at all."}
	for _, shift := range []float64{0, 5} { // the lines of the columns need not be at the same heights
		doc := extractPDF(t, makePDF([][]pdfText{page(
			column(70, 780, 20, "F2", 16, "A Title over Both Columns of the Page"),
			column(70, 740, 12, "F1", 10, left...), column(310, 740-shift, 12, "F1", 10, right...))}, "Report 7.doc", "", nil, nil))
		want := strings.Join(left, " ") + "\n\n" + strings.Join(right, " ")
		if doc.Text != want || doc.Title != "A Title over Both Columns of the Page" {
			t.Errorf("shift %v: title %q, text:\n%s\nwant:\n%s", shift, doc.Title, doc.Text, want)
		}
	}
}

// The outline names the headings where type and numbers do not, and the table of contents is left out.
func TestPDFOutline(t *testing.T) {
	t.Parallel()
	var pages [][]pdfText
	names := []string{"Getting started", "Keeping warm", "Coming home"}
	pages = append(pages, column(70, 700, 14, "F1", 10, "Contents", names[0]+" . . . . . . . . . 2", names[1]+" . . . . . . . . . 3", names[2]+" . . . . . . . . . 4"))
	for _, n := range names {
		pages = append(pages, column(70, 700, 14, "F1", 10, n, "", "This is what there is to say of it, and no more than that."))
	}
	doc := extractPDF(t, makePDF(pages, "A Walk", "", names, []int{1, 2, 3}))
	var got []string
	for _, s := range doc.Sections[1:] {
		got = append(got, s.Path...)
	}
	if !slices.Equal(got, names) || strings.Contains(doc.Text, "Contents") || doc.Title != "A Walk" {
		t.Errorf("title %q, sections %q, text %q", doc.Title, got, doc.Text)
	}
}

func TestPDFErrors(t *testing.T) {
	t.Parallel()
	whole := handbook()
	garbage := column(70, 700, 14, "F1", 10, strings.Repeat("\x01\x02 \x03\x04\x05 ", 12), strings.Repeat("x\x01\x02z\x07 ", 9), "qzx vbn wrt")
	for _, tc := range []struct {
		name string
		data []byte
		want error
	}{
		{"no text", makePDF([][]pdfText{{}, {}}, "Scan", "", nil, nil), extract.ErrNoText},
		{"encrypted", makePDF([][]pdfText{{}}, "", "/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /O (x) /U (x) /P -4 >> /ID [(a) (b)]", nil, nil), extract.ErrEncrypted},
		{"garbled", makePDF([][]pdfText{garbage}, "", "", nil, nil), extract.ErrGarbled},
		{"no page", []byte("%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n"), extract.ErrDamaged},
		{"head only", whole[:40], extract.ErrDamaged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if doc, err := extract.File(t.Context(), "a.pdf", tc.data); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v; text %q", err, tc.want, doc.Text)
			}
		})
	}
}

// A file whose cross-reference table is wrong or cut off is read all the same, and one with a wrong name too.
func TestPDFDamaged(t *testing.T) {
	t.Parallel()
	whole := handbook()
	want := extractPDF(t, whole).Text
	moved := append([]byte("rubbish before the mark\n"), whole...)
	for name, data := range map[string][]byte{
		"no table": whole[:bytes.LastIndex(whole, []byte("xref\n0"))],
		"moved":    moved,
	} {
		if got := extractPDF(t, data).Text; got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	doc, err := extract.File(t.Context(), "report.html", whole)
	if err != nil || doc.Text != want {
		t.Errorf("as .html: %v, %q", err, doc.Text)
	}
}

func TestPDFCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the night is over")
	cancel(why)
	var pages [][]pdfText
	for range 300 {
		pages = append(pages, column(70, 780, 12, "F1", 10, strings.Split(strings.Repeat("some words of a line\n", 50), "\n")...))
	}
	if _, err := pdflayout.Read(ctx, makePDF(pages, "", "", nil, nil)); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// Small files that unpack to much end with a reason, before they take much memory.
func TestPDFHostile(t *testing.T) {
	t.Parallel()
	form := func(n int) string { return strings.Repeat("/X Do ", n) }
	for _, tt := range []struct {
		name, before, repeated string
		size                   int // bytes of content
		want                   error
	}{
		{"one array", "[", "1 ", 65 << 20, extract.ErrTooLarge},
		{"states that are saved", "", "q ", 65 << 20, extract.ErrTooLarge},
		{"values that nobody uses", "[", "1 ", 4 << 20, extract.ErrNoText},
		{"forms that do not exist", "", form(10), 1 << 20, extract.ErrNoText},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var packed bytes.Buffer
			z := zlib.NewWriter(&packed)
			_, _ = z.Write([]byte(tt.before))
			part := []byte(strings.Repeat(tt.repeated, 1+(64<<10)/len(tt.repeated)))
			for written := 0; written < tt.size; written += len(part) {
				_, _ = z.Write(part)
			}
			_ = z.Close()
			file := "%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n" +
				"2 0 obj << /Type /Pages /MediaBox [0 0 595 842] /Kids [3 0 R] >> endobj\n" +
				"3 0 obj << /Type /Page /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R >> endobj\n" +
				fmt.Sprintf("4 0 obj << /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream endobj\n", packed.Len(), packed.String()) +
				"5 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj\ntrailer << /Root 1 0 R >>\n"
			if len(file) > 200<<10 {
				t.Fatalf("the file has %d bytes", len(file))
			}
			if doc, err := pdflayout.Read(t.Context(), []byte(file)); !errors.Is(err, tt.want) {
				t.Errorf("%d bytes of text, %v, want %v", len(doc.Text), err, tt.want)
			}
		})
	}
}

func FuzzPDF(f *testing.F) {
	f.Add(handbook())
	f.Add(seenPDF("/OCProperties << /D << /OFF [20 0 R] >> >> /AcroForm << /Fields [21 0 R] >>", "/Rotate 90",
		"/OC /Layer BDC 0 0 99 99 re W n /Sep cs 0 scn 5 5 m 9 9 l f EMC q 3 Tr "+at(60, 700, 12, "10")+at(74, 706, 7, "6"),
		"<< /Type /OCG >>", "<< /FT /Tx /V (Marten) /Rect [110 696 200 712] /P 3 0 R >>"))
	f.Add(makePDF([][]pdfText{column(70, 700, 14, "F1", 10, "one two three four five six seven eight nine ten")}, "t", "", []string{"one"}, []int{0}))
	f.Fuzz(func(t *testing.T, data []byte) {
		start := time.Now()
		doc, err := pdflayout.Read(t.Context(), data)
		if took := time.Since(start); took > 10*time.Second {
			t.Fatalf("took %v", took)
		}
		if err == nil && doc.Text != "" {
			check(t, doc)
			if !slices.IsSorted(doc.Pages) || len(doc.Pages) > 0 && doc.Pages[len(doc.Pages)-1] > len(doc.Text) {
				t.Fatalf("pages %v of %d bytes", doc.Pages, len(doc.Text))
			}
		}
	})
}

func BenchmarkPDF300Pages(b *testing.B) {
	var pages [][]pdfText
	for i := range 300 {
		var lines []string
		for k := range 50 {
			lines = append(lines, fmt.Sprintf("Line %d of page %d has a dozen words, as the lines of books have them.", k, i))
		}
		pages = append(pages, column(70, 780, 14, "F1", 11, lines...))
	}
	data := makePDF(pages, "", "", nil, nil)
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := pdflayout.Read(b.Context(), data); err != nil {
			b.Fatal(err)
		}
	}
}
