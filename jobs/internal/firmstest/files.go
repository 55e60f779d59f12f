package firmstest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"html"
	"path"
	"slices"
	"strings"
	"unicode/utf16"
)

// Filing is a change to a firm's files in a directory between two nights that is impossible for pages.
type Filing struct {
	Edit
	File func(f *Firm, files Files, after bool) // modifies the files of either night
}

// Files are the files of a firm: contents by name. Names may include folders.
type Files map[string]string

// name returns the name of a file that does not belong to a page.
func (f *Firm) name(file string) string { return f.slug() + "-" + file }

// press returns all lines of the press release.
func (f *Firm) press() []string {
	lines := append(slices.Clone(f.PressLines), f.Name+" makes precise instruments and is known for its service.")
	lines[0] = "4 February 2026 – " + lines[0]
	return lines
}

// take removes the file of a page and returns its content.
func (s Files) take(f *Firm, kind string) string {
	name := f.name(kind + ".html")
	text := s[name]
	if text == "" {
		panic("there is no file " + name)
	}
	delete(s, name)
	return text
}

// Filings returns the possible changes to files. Each firm gets one of them.
func Filings() []Filing { return slices.Concat(placeFilings(), formatFilings(), contentFilings()) }

// nothing leaves a firm unchanged.
func nothing(*Firm) {}

// only applies a change to the files of the second night.
func only(do func(f *Firm, files Files)) func(*Firm, Files, bool) {
	return func(f *Firm, files Files, after bool) {
		if after {
			do(f, files)
		}
	}
}

// revenue changes the revenue in the press release; revenueChanged returns the finding for it.
func revenue(f *Firm) {
	f.PressLines[0] = f.Name + " today announced a revenue of 999 million euros for 2025."
}

var revenueChanged = always(Finding{"changed", []string{"revenue of"}, []string{"999 million"}})

// pressFile replaces the page of the press release by a file in the format of write.
func pressFile(name string, write func(title string, lines []string) string) func(*Firm, Files, bool) {
	return func(f *Firm, files Files, _ bool) {
		files.take(f, Press)
		files[f.name(name)] = write(f.Page(Press).Title, f.press())
	}
}

// placeFilings move content between files.
func placeFilings() []Filing {
	return []Filing{
		{Edit{Name: "file renamed", Do: nothing, Moves: true}, only(func(f *Firm, files Files) {
			files[f.name("year-2025.html")] = files.take(f, Press)
		})},
		{Edit{Name: "files put into folders", Do: nothing, Moves: true}, only(func(f *Firm, files Files) {
			for _, kind := range []string{Press, News, Article} {
				files[path.Join("archive", f.slug(), kind+".html")] = files.take(f, kind)
			}
		})},
		{Edit{Name: "file split in two", Do: nothing, Moves: true}, only(func(f *Firm, files Files) {
			files.take(f, Article)
			files[f.name("past.md")] = markdown("The past of "+f.Name, f.History)
			files[f.name("present.md")] = markdown(f.Name+" today", f.Operations)
		})},
		{Edit{Name: "two files made one", Do: nothing, Moves: true}, only(func(f *Firm, files Files) {
			files.take(f, Press)
			files.take(f, News)
			files[f.name("papers.md")] = markdown("Papers on "+f.Name, slices.Concat(f.NewsLines, f.press()))
		})},
		{Edit{Name: "chapter moved to another file", Do: nothing, Moves: true}, func(f *Firm, files Files, after bool) {
			files.take(f, Article)
			files.take(f, News)
			article, news := markdown("The book of "+f.Name, f.History), markdown("News of "+f.Name, f.NewsLines)
			if chapter := "\n## Operations\n\n" + strings.Join(f.Operations, " ") + "\n"; after {
				news += chapter
			} else {
				article += chapter
			}
			files[f.name("book.md")], files[f.name("news.md")] = article, news
		}},
		{Edit{Name: "file copied", Do: nothing}, only(func(f *Firm, files Files) {
			files[f.name("press-copy.html")] = files[f.name("press.html")]
		})},
		{Edit{Name: "file in another format", Do: nothing, Moves: true}, only(func(f *Firm, files Files) {
			files.take(f, Press)
			files[f.name("press.md")] = markdown(f.Page(Press).Title, f.press())
		})},
	}
}

// formatFilings change formats, encodings and metadata of files.
func formatFilings() []Filing {
	return []Filing{
		{Edit{Name: "number in a DOCX", Do: revenue, Want: revenueChanged}, pressFile("press.docx", docx)},
		{Edit{Name: "number in a PDF", Do: revenue, Want: revenueChanged}, pressFile("press.pdf", pdf)},
		{Edit{Name: "number changed and file renamed", Do: revenue, Want: revenueChanged, Moves: true},
			only(func(f *Firm, files Files) { files[f.name("year-2025.html")] = files.take(f, Press) })},
		{Edit{Name: "another encoding", Do: nothing}, func(f *Firm, files Files, after bool) {
			files.take(f, Press)
			text := markdown(f.Page(Press).Title, f.press())
			if after {
				text = utf16LE(text)
			}
			files[f.name("press.txt")] = text
		}},
		{Edit{Name: "other line ends, lines broken elsewhere", Do: nothing}, func(f *Firm, files Files, after bool) {
			files.take(f, Press)
			width, end := 60, "\n"
			if after {
				width, end = 40, "\r\n"
			}
			files[f.name("press.txt")] = strings.ReplaceAll(wrapped(strings.Join(f.press(), " "), width), "\n", end)
		}},
		{Edit{Name: "date in the front matter", Do: nothing}, func(f *Firm, files Files, after bool) {
			files.take(f, Press)
			date := "2026-02-04"
			if after {
				date = "2026-03-05"
			}
			files[f.name("press.md")] = "---\ntitle: Year\ndate: " + date + "\nstatus: final\n---\n" +
				markdown(f.Page(Press).Title, f.press())
		}},
	}
}

// contentFilings change what files say.
func contentFilings() []Filing {
	return []Filing{
		{Edit{Name: "two files gone, their facts with them", Do: nothing, Want: func(f *Firm) []Finding {
			return append(of(withdrawn, f.NewsLines...), of(withdrawn, f.Answers[0][1], f.Answers[1][1], f.Answers[2][1])...)
		}}, only(func(f *Firm, files Files) {
			files.take(f, News)
			files.take(f, Questions)
		})},
		{Edit{Name: "a memo that says something else", Do: nothing, Want: always(fresh("6,020 people"))},
			only(func(f *Firm, files Files) {
				files[f.name("memo.txt")] = "Memo to all.\n\nAt the end of March, " + f.Name +
					" had 6,020 people on its pay list. " + f.PressLines[1] + "\n"
			})},
		{Edit{Name: "written anew with one more fact", Do: nothing, Want: always(fresh("wind turbine"))},
			only(func(f *Firm, files Files) {
				files.take(f, Article)
				lines := append(slices.Clone(f.Operations), "A wind turbine of 3,300 kilowatts feeds the works of "+f.Name+".")
				files[f.name("article.html")] = "<html><head><title>" + html.EscapeString(f.Name) +
					" in short</title></head><body><h1>Today</h1><ul><li>" + strings.Join(lines, "</li><li>") +
					"</li></ul><h1>Before</h1><p>" + strings.Join(f.History, "</p><p>") + "</p></body></html>"
			})},
		{Edit{Name: "sentence changed on its way to another file", Do: revenue, Want: revenueChanged, Moves: true},
			func(f *Firm, files Files, after bool) {
				files.take(f, Press)
				files.take(f, News)
				first, rest := f.PressLines[:1], f.press()[1:]
				if after {
					files[f.name("news.md")], files[f.name("press.md")] = markdown("News of "+f.Name,
						append(slices.Clone(f.NewsLines), first...)), markdown("Press of "+f.Name, rest)
				} else {
					files[f.name("news.md")], files[f.name("press.md")] = markdown("News of "+f.Name, f.NewsLines),
						markdown("Press of "+f.Name, f.press())
				}
			}},
		{Edit{Name: "a later edition beside the one that stays", Do: nothing, Want: always(fresh("999 million"))},
			only(func(f *Firm, files Files) {
				lines := f.press()
				lines[0] = f.Name + " today announced a revenue of 999 million euros for 2025."
				files[f.name("press-2.md")] = markdown(f.Page(Press).Title, lines)
			})},
		{Edit{Name: "headings in other words, list numbered", Do: nothing}, func(f *Firm, files Files, after bool) {
			files.take(f, About)
			heading, bullet := "## Where it is", "- "
			if after {
				heading, bullet = "## Places and people", "1. "
			}
			files[f.name("about.md")] = markdown("About "+f.Name, f.AboutLines) + "\n" + heading + "\n\n" + bullet +
				strings.Join(f.Sites, "\n"+bullet) + "\n"
		}},
		{Edit{Name: "price in a table of a DOCX that becomes Markdown", Do: func(f *Firm) {
			f.Table[1].Price = "€399"
		}, Moves: true, Want: func(f *Firm) []Finding {
			return []Finding{{Kind: "changed", Old: []string{f.Table[1].Model}, New: []string{f.Table[1].Model, "399"}}}
		}}, func(f *Firm, files Files, after bool) {
			files.take(f, Products)
			title, lines := "Products and prices of "+f.Name, []string{}
			for _, r := range f.Table {
				lines = append(lines, fmt.Sprintf("The %s of %s costs %s and weighs %s.", r.Model, f.Name, r.Price, r.Weight))
			}
			if after {
				files[f.name("products.md")] = markdown(title, lines)
			} else {
				files[f.name("products.docx")] = docx(title, lines)
			}
		}},
		{Edit{Name: "facts in other words in another file", Do: nothing, Moves: true, Want: func(f *Firm) []Finding {
			return []Finding{{Kind: "changed", Old: []string{f.Answers[0][1]}, New: []string{"On average, repairs"}}}
		}}, only(func(f *Firm, files Files) {
			files.take(f, Questions)
			files[f.name("service.md")] = markdown("Service of "+f.Name,
				[]string{"On average, repairs" + strings.Replace(strings.TrimPrefix(f.Answers[0][1], "Repairs"), " on average.",
					".", 1), f.Answers[1][1], f.Answers[2][1]})
		})},
	}
}

func markdown(title string, lines []string) string {
	return "# " + title + "\n\n" + strings.Join(lines, "\n\n") + "\n"
}

// wrapped breaks a text into lines of at most width bytes.
func wrapped(text string, width int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0:
		case column+1+len(word) > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String() + "\n"
}

func utf16LE(text string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// docx returns a Word document with a heading and paragraphs.
func docx(title string, lines []string) string {
	var body strings.Builder
	_, _ = fmt.Fprintf(&body, `<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>%s</w:t></w:r></w:p>`,
		html.EscapeString(title))
	for _, line := range lines {
		_, _ = fmt.Fprintf(&body, `<w:p><w:r><w:t>%s</w:t></w:r></w:p>`, html.EscapeString(line))
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, part := range [][2]string{
		{"[Content_Types].xml",
			`<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
				`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
				`<Override PartName="/word/document.xml" ContentType="application/` +
				`vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", `<?xml version="1.0"?>` +
			`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="rId1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ` +
			`Target="word/document.xml"/></Relationships>`},
		{"word/document.xml",
			`<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` +
				body.String() + `</w:body></w:document>`},
	} {
		w, err := z.Create(part[0])
		if err == nil {
			_, err = w.Write([]byte(part[1]))
		}
		if err != nil {
			panic(err) // a buffer accepts all writes
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// pdf returns a PDF page with a heading and lines. Typographic quotation marks become plain ones.
func pdf(title string, lines []string) string {
	plain := strings.NewReplacer("“", `"`, "”", `"`, "(", `\(`, ")", `\)`)
	var content strings.Builder
	_, _ = fmt.Fprintf(&content, "BT /F1 18 Tf 60 780 Td (%s) Tj ET\n", plain.Replace(title))
	for i, line := range lines {
		_, _ = fmt.Fprintf(&content, "BT /F1 10 Tf 60 %d Td (%s) Tj ET\n", 740-30*i, plain.Replace(line))
	}
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	var offsets []int
	for i, object := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%sendstream", content.Len(), content.String()),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
	} {
		offsets = append(offsets, b.Len())
		_, _ = fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	at := b.Len()
	_, _ = fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		_, _ = fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	_, _ = fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, at)
	return b.String()
}
