package extract_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/topicqueue"
)

// A document states its title, who wrote or published it and its date: NAME.want has them, a line each, beside the
// file NAME, or the parts of a packed one.
func TestStated(t *testing.T) {
	t.Parallel()
	sets, err := filepath.Glob("testdata/stated/*.txtar")
	if err != nil || len(sets) == 0 {
		t.Fatal(sets, err)
	}
	for _, set := range sets {
		archive, err := txtar.ParseFile(set)
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range statedFiles(archive) {
			t.Run(strings.TrimSuffix(filepath.Base(set), ".txtar")+"/"+name, func(t *testing.T) {
				t.Parallel()
				doc, err := extract.File(t.Context(), name, data.content)
				if err != nil {
					t.Fatal(err)
				}
				check(t, doc)
				by := topicqueue.Source{Authors: doc.Authors, Publisher: doc.Publisher}.By()
				if diff := cmp.Diff(data.want, doc.Title+"\n"+by+"\n"+doc.Date+"\n"); diff != "" {
					t.Errorf("title, by, date: -want +got:\n%s", diff)
				}
			})
		}
	}
}

type statedFile struct {
	want    string
	parts   []string
	content []byte
}

func statedFiles(archive *txtar.Archive) map[string]*statedFile {
	files := map[string]*statedFile{}
	for _, f := range archive.Files {
		name, part, packed := strings.Cut(f.Name, "/")
		base, want := strings.CutSuffix(name, ".want")
		if files[base] == nil {
			files[base] = &statedFile{}
		}
		file := files[base]
		if want {
			file.want = string(f.Data)
			continue
		}
		if file.content = f.Data; packed {
			file.parts = append(file.parts, part, string(f.Data))
			file.content = pack(file.parts...)
		}
	}
	return files
}

// A paragraph that begins like a field, or comes later, states nothing.
func TestProseStatesNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"wrapped", "# Tides\n\nSubject: the tables of the harbour, which were read from the old books of the\npilots.",
			"Tides"},
		{"reply", "From: Ane Holt\nSubject: Re: Tides\n\nThey are strong.", "Re: Tides"},
		{"timetable", "From: Stavik\nDate: 2024-05-06\n\nThe ferry leaves at noon.", ""},
		{"second heading", "# Tides\n\n## Sources\n\nAuthor: unknown to this day", "Tides"},
		{"salutation", "Dear all,\n\nthe tides are strong.", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			plain, err := extract.Bytes(t.Context(), extract.TypeText, []byte(tt.text), "")
			if err != nil {
				t.Fatal(err)
			}
			for _, doc := range []extract.Document{extract.Markdown(tt.text), plain} {
				if tt.name != "reply" && len(doc.Authors) > 0 || strings.TrimPrefix(doc.Title, "# ") != tt.want {
					t.Errorf("title %q, authors %q", doc.Title, doc.Authors)
				}
			}
		})
	}
}

// More forms in which documents begin.
func TestStatedForms(t *testing.T) {
	t.Parallel()
	const prose = "The dues rise by four percent, and ships below ten metres pay nothing at all.\n"
	for _, tt := range []struct{ name, text, title, by, date string }{
		{"Pandoc", "% Harbour dues\n% Ane Holt; P. Dietz\n% 12 January 2025\n\n# Dues\n\n",
			"Harbour dues", "Ane Holt, P. Dietz", "2025-01-12"},
		{"block scalar", "---\ntitle: >-\n  The long history\n  of the quay\ndate: 2021-07-14T10:00:00+02:00\n---\n" +
			"## 1. Beginnings\n\nLong ago.\n\n## 2. Today\n\n", "The long history of the quay", "", "2021-07-14"},
		{"author with an address", "---\nauthor:\n  name: Lise Moen\n  affiliation: Coast Times\n---\n# Dues\n\n",
			"Dues", "Lise Moen", ""},
		{"title with a date", "**Minutes of the harbour board, 12 February 2024**\n\n",
			"Minutes of the harbour board, 12 February 2024", "", "2024-02-12"},
		{"Outlook", "Von: Roth, Jens\nGesendet: Mittwoch, 3. Juli 2024 14:05\nAn: Holt, Ane\nBetreff: AW: Dues\n\n",
			"AW: Dues", "Roth, Jens", "2024-07-03"},
		{"table", "# Report 17\n\n| | |\n|---|---|\n| Author | Jens Roth |\n| Date | 2024-09-30 |\n\n",
			"Report 17", "Jens Roth", "2024-09-30"},
		{"row of a case", "# Register\n\n| | |\n|---|---|\n| Case | 17 |\n" +
			"| State | Closed: dismissed by judgment of 16 October 2025 |\n\n", "Register", "", ""},
		{"letterhead", "# HOLT ENGINEERS\n\n**The quays: three ways to save them**\n" +
			"Report 17 · 14 February 2025\nAuthor: A. Holt. Checked: P. Dietz.\n\n## 1 Basis\n\n",
			"HOLT ENGINEERS: The quays: three ways to save them", "A. Holt", "2025-02-14"},
		{"byline below a title", "# The quay\n\n**By Jonas Whitlow**\n\n## Dues\n\n", "The quay", "Jonas Whitlow", ""},
		{"bulletin", "# Statistical Office\n\n## Bulletin 4: quays\n\nRelease date: 2026-05-12. Source: returns.\n\n" +
			"### Points\n\n",
			"Statistical Office: Bulletin 4: quays", "", "2026-05-12"},
		{"technical note", "# Hafenamt e. V.\n\n## Vermerk 7\n\nStand: 28.05.2026. Bearbeitung: R. Koller.\n\n" +
			"### 1. Zweck\n\n",
			"Hafenamt e. V.: Vermerk 7", "", "2026-05-28"},
		{"minutes", "# Harbour Board\n\n## Minutes, 18 June 2026, 13:30 to 16:10, Room 2\n\n### 1. Dues\n\n",
			"Harbour Board: Minutes, 18 June 2026, 13:30 to 16:10, Room 2", "", "2026-06-18"},
		{"masthead", "# The Post\n\n*Supplement, 6 September 2026*\n\n# The quay\n\n**By Jonas Whitlow**\n\n",
			"The Post: The quay", "Jonas Whitlow", "2026-09-06"},
		{"paper", "# Worms in piles\n\n**E. Marsh, T. Okonjo-Hale, S. Birk.** University. *Journal*, 19(1), " +
			"May 2026, pp. 3-17.\n\n## Abstract\n\n",
			"Worms in piles", "E. Marsh, T. Okonjo-Hale, S. Birk", "2026-05"},
		{"register", "HARBOUR TRIBUNAL\nPublic register\nPrint-out of 21 September 2026\n\n",
			"HARBOUR TRIBUNAL, Public register", "",
			"2026-09-21"},
		{"accident", "# Report on the accident of 4 May 1980\n\n", "Report on the accident of 4 May 1980", "", ""},
		{"prose", "# The quay\n\nThe quay was opened on 4 May 1980.\n\n## Dues\n\n", "The quay", "", ""},
		{"two sections", "# The quay\n\n## Dues\n\nNone.\n\n## Worms\n\n", "The quay", "", ""},
		{"towns", "# The quays\n\n*Stavik, Oslo, Bergen*\n\n", "The quays", "", ""},
		{"validity", "# Prices\n\n*Valid from 1 January 2026 to 31 March 2026*\n\n", "Prices", "", ""},
		{"numbered decision", "# 17. Use quay B\n\nDate: 2024-08-01\n\nStatus: accepted\n\n## Context\n\n",
			"17. Use quay B", "", "2024-08-01"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc := extract.Markdown(tt.text + prose)
			if tt.name == "register" {
				var err error
				if doc, err = extract.Bytes(t.Context(), extract.TypeText, []byte(tt.text+prose), ""); err != nil {
					t.Fatal(err)
				}
			}
			by := topicqueue.Source{Authors: doc.Authors, Publisher: doc.Publisher}.By()
			if doc.Title != tt.title || by != tt.by || doc.Date != tt.date {
				t.Errorf("%q by %q of %q", doc.Title, by, doc.Date)
			}
		})
	}
}

// The head of a document is read in time that grows with its size, and is one line each, whatever is in it.
func FuzzStated(f *testing.F) {
	for _, set := range []string{"development", "closed"} {
		archive, err := txtar.ParseFile("testdata/stated/" + set + ".txtar")
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(string(file.Data))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []extract.Type{extract.TypeMarkdown, extract.TypeText, extract.TypeHTML} {
			for _, content := range []string{text, "---\n" + text + "\n---\n\nThe pier.", "Date: " + text + "\n\nThe pier.",
				`<script type="application/ld+json">` + text + "</script><p>The pier."} {
				doc, err := extract.Bytes(t.Context(), kind, []byte(content), "")
				if err == nil {
					check(t, doc)
				} else if strings.Contains(err.Error(), "internal error") {
					t.Fatal(err)
				}
			}
		}
		doc, err := extract.File(t.Context(), "a.docx", pack("docProps/core.xml", text, "word/document.xml",
			`<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>The pier.</w:t></w:r></w:p></w:body></w:document>`))
		if err != nil {
			t.Fatal(err)
		}
		check(t, doc)
		packet := strings.Replace(pdfWithPacket, "PACKET", fmt.Sprintf("<< /Length %d >>\nstream\n%s", len(text), text), 1)
		if doc, err = extract.File(t.Context(), "a.pdf", []byte(packet)); err == nil {
			check(t, doc)
		} else if strings.Contains(err.Error(), "internal error") {
			t.Fatal(err)
		}
	})
}

// pdfWithPacket is a PDF whose metadata stand in object 6.
var pdfWithPacket = func() string {
	line := "BT /F1 10 Tf 72 700 Td (The pier was closed for repairs in the spring.) Tj ET"
	return "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R /Metadata 6 0 R >>\nendobj\n" +
		"2 0 obj\n<< /Type /Pages /Kids [4 0 R] /Count 1 /MediaBox [0 0 595 842] >>\nendobj\n" +
		"3 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>\nendobj\n" +
		"4 0 obj\n<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>\nendobj\n" +
		fmt.Sprintf("5 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n", len(line), line) +
		"6 0 obj\nPACKET\nendstream\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n"
}()
