package extract_test

import (
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge/extract"
)

// Each message of a correspondence is a section that says who wrote it and when; the document is of all of them.
func TestCorrespondence(t *testing.T) {
	t.Parallel()
	first := "From: Ane Holt <ane@harbour.example>\nTo: Jens Roth\nDate: Wed, 11 Jun 2025 08:14\nSubject: dues\n\n" +
		"Jens, what do we say about the dues?\n\nAne\n"
	answer := "From: Jens Roth\nSent: Thursday, 12 June 2025 11:40\nTo: Ane Holt\nSubject: RE: dues\n\n" +
		"They rise by four percent.\n\n> From: Ane Holt\n> Date: Wed, 11 Jun 2025 08:14\n>\n> what do we say of them?\n"
	for _, tt := range []struct{ name, text, title, by, date, sections string }{
		{"thread", first + "\n-----\n" + answer, "dues", "Ane Holt, Jens Roth", "2025-06-12",
			"Ane Holt, Wed, 11 Jun 2025 08:14; Jens Roth, Thursday, 12 June 2025 11:40"},
		{"of a program", first + "\n-----Original Message-----\n" + answer, "dues", "Ane Holt, Jens Roth", "2025-06-12",
			"Ane Holt, Wed, 11 Jun 2025 08:14; Jens Roth, Thursday, 12 June 2025 11:40"},
		{"one letter", answer, "RE: dues", "Jens Roth", "2025-06-12", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc, err := extract.Bytes(t.Context(), extract.TypeText, []byte(tt.text), "")
			if err != nil {
				t.Fatal(err)
			}
			var sections []string
			for _, s := range doc.Sections {
				sections = append(sections, strings.Join(s.Path, " > "))
			}
			sections = slices.DeleteFunc(sections, func(s string) bool { return s == "" })
			if got := strings.Join(sections, "; "); got != tt.sections {
				t.Errorf("sections %q", got)
			}
			if by := strings.Join(doc.Authors, ", "); doc.Title != tt.title || by != tt.by || doc.Date != tt.date {
				t.Errorf("%q by %q of %q", doc.Title, by, doc.Date)
			}
			check(t, doc)
		})
	}
}
