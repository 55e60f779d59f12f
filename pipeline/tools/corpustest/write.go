package corpustest

import (
	"bytes"
	"fmt"
	"html"
	"strings"
)

// write returns page k of subject i.
func (c *Corpus) write(i, k int) *Page {
	name, kind := Subject(i), kinds[k]
	p := &Page{
		Subject: name, Kind: kind, Type: "text/html; charset=utf-8",
		Title: fmt.Sprintf("%s Harbour: %s", name, kind),
		Date:  fmt.Sprintf("2025-%02d-%02d", 1+(i+k)%12, 1+(7*i+3*k)%28),
		URL:   fmt.Sprintf("http://%s:%s/%s/%s", hosts[(i+k%3)%len(hosts)], c.Port, slug(name), kind),
	}
	if kind == "report" {
		p.Type, p.URL = "application/pdf", p.URL+".pdf"
	}
	for n, form := range forms[kind] {
		p.Facts = append(p.Facts, fmt.Sprintf(form, name, Figure(i, k, n)))
	}
	return p
}

// Figure returns the figure of fact n on page k of subject i. Every fact has a different figure.
func Figure(i, k, n int) int { return 10_000 + i*600 + k*100 + n*7 }

func slug(name string) string { return strings.ToLower(strings.ReplaceAll(name, " ", "-")) }

// forms are the templates of facts by kind of page; %[1]s is the subject, %[2]d the figure.
var forms = map[string][]string{
	"overview": {
		"%[1]s Harbour covers %[2]d square metres of sheltered water.",
		"The quays of %[1]s Harbour have a total length of %[2]d centimetres per berth.",
		"%[1]s Harbour serves a hinterland of %[2]d households.",
		"The port authority of %[1]s Harbour employs %[2]d people in three shifts.",
	},
	"history": {
		"The first mole of %[1]s Harbour was built from %[2]d blocks of granite.",
		"A storm in 1907 destroyed %[2]d metres of fences at %[1]s Harbour.",
		"The reconstruction of %[1]s Harbour cost %[2]d guilders.",
	},
	"figures": {
		"%[1]s Harbour handled %[2]d containers in 2024.",
		"In 2024, %[2]d ships called at %[1]s Harbour.",
		"The dredgers of %[1]s Harbour moved %[2]d tonnes of silt in 2024.",
		"Freight trains carried %[2]d tonnes from %[1]s Harbour in 2024.",
		"The pilots of %[1]s Harbour made %[2]d trips in 2024.",
	},
	"news": {
		"The council of %[1]s Harbour approved a budget of %[2]d thousand euros for shore power.",
		"%[1]s Harbour will replace %[2]d lamps along its quays.",
	},
	"forum": {
		"A member writes that the mooring fee at %[1]s Harbour was %[2]d cents last summer.",
		"Another member counted %[2]d gulls at %[1]s Harbour on one morning.",
	},
	"report": {
		"The annual report of %[1]s Harbour states an electricity use of %[2]d kilowatt-hours per crane.",
		"%[1]s Harbour emitted %[2]d tonnes of carbon dioxide according to its report.",
		"The report of %[1]s Harbour lists %[2]d accidents without injury since its records began.",
	},
}

// filler is page text besides the facts.
var filler = []string{
	"The approach is marked by buoys on both sides, and visitors are asked to report by radio before they pass " +
		"the outer mole.",
	"Much of the area is open to the public, although some quays are closed while ships are being loaded or unloaded.",
	"Those who know the place speak of long evenings on the pier and of the smell of tar in the old sheds.",
	"The office answers questions in writing and by telephone on working days.",
}

// html returns a page with a menu, facts between filler text, and links.
func (c *Corpus) html(p *Page) string {
	var b strings.Builder
	title := html.EscapeString(p.Title)
	fmt.Fprintf(&b, `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>%s</title>
<meta property="article:published_time" content="%sT08:00:00Z">`+
		`<meta property="og:site_name" content="%s pages"></head><body>
<nav><a href="/">Home</a> <a href="/about">About</a> <a href="/private/admin">Sign in</a> %s</nav>`+
		`<main><article><h1>%s</h1>
`, title, p.Date, html.EscapeString(p.Subject), html.EscapeString(p.Menu), title)
	for i, fact := range p.Facts {
		fmt.Fprintf(&b, "<h2>Part %d</h2><p>%s %s</p>\n<p>%s</p>\n", i+1,
			html.EscapeString(fact), filler[i%len(filler)], filler[(i+1)%len(filler)])
	}
	if p.Stamp != "" {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(p.Stamp))
	}
	b.WriteString("</article></main><ul>")
	for _, kind := range kinds {
		if kind != p.Kind {
			fmt.Fprintf(&b, `<li><a href="/%s/%s">%s</a></li>`, slug(p.Subject), kind, kind)
		}
	}
	b.WriteString("</ul><footer>Cookies help us to deliver our services.</footer></body></html>")
	return b.String()
}

// pdf returns a one-page PDF with text.
func pdf(title string, lines []string) []byte {
	var text strings.Builder
	fmt.Fprintf(&text, "BT /F1 16 Tf 60 780 Td (%s) Tj /F1 11 Tf", escapePDF(title))
	for i, line := range append(append([]string{}, lines...), filler...) {
		gap := 16
		if i == 0 {
			gap = 36
		}
		for _, part := range wrap(line, 80) {
			fmt.Fprintf(&text, " 0 -%d Td (%s) Tj", gap, escapePDF(part))
			gap = 14
		}
	}
	text.WriteString(" ET")
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", text.Len(), text.String()),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		fmt.Sprintf("<< /Title (%s) >>", escapePDF(title)),
	}
	var out bytes.Buffer
	out.WriteString("%PDF-1.4\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return out.Bytes()
}

func escapePDF(s string) string {
	return strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(s)
}

func wrap(line string, width int) []string {
	var out []string
	current := ""
	for word := range strings.FieldsSeq(line) {
		if current != "" && len(current)+1+len(word) > width {
			out = append(out, current)
			current = ""
		}
		current = strings.TrimSpace(current + " " + word)
	}
	return append(out, current)
}
