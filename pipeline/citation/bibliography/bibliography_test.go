package bibliography_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/citation/bibliography"
	"nightdesk/topicqueue"
)

func sources() []topicqueue.Source {
	read := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
	return []topicqueue.Source{
		{ID: "src_1", Kind: topicqueue.SourcePaper, Title: "Heat & cold: 50% of {all}", DOI: "10.1000/a_b", Date: "2024-03",
			URL: "https://doi.org/10.1000/a_b", Publisher: "Journal of Heat", RetrievedAt: read,
			Authors: []string{"Ada Lovelace", "Jan van der Berg", "et al."}},
		{ID: "src_2", Kind: topicqueue.SourceWeb, Title: "A page\nER  - \n}@misc{x,",
			URL:       "https://a.example/x_{1}?q=a%20b#top",
			Publisher: "Office of Statistics", Date: "2025-12-31", Authors: []string{"Heat and Cold Board"}, RetrievedAt: read},
		{ID: "src_3", Kind: topicqueue.SourceWeb, Title: "A page, further down", URL: "https://a.example/x_{1}?q=a%20b#end"},
		{ID: "src_4", Kind: topicqueue.SourceDocument, Document: "notes/winter.md", Date: "soon",
			File: "/home/secret/winter.md"},
		{ID: "src_5", Kind: topicqueue.SourceCode, Title: "output"},
	}
}

func TestSourcesAreListedForReferenceManagers(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		bibliography.BibTeX: {"@article{src_1,\n", `title = {{Heat \& cold: 50\% of \textbraceleft{}all\textbraceright{}}}`,
			"doi = {10.1000/a_b}",
			"author = {{Lovelace}, Ada and {van der Berg}, Jan and others}", "journal = {Journal of Heat}", "year = {2024}",
			"date = {2024-03}", "@misc{src_2,\n", "author = {{Heat and Cold Board}}",
			"url = {https://a.example/x_%7B1%7D?q=a%20b}",
			"urldate = {2026-03-01}", "note = {notes/winter.md}"},
		bibliography.RIS: {"TY  - JOUR\r\nID  - src_1\r\n", "AU  - van der Berg, Jan\r\nAU  - et al.\r\n",
			"AU  - Heat and Cold Board\r\n",
			"DA  - 2024/03//\r\n", "DA  - 2025/12/31/\r\n", "DO  - 10.1000/a_b\r\n", "TI  - A page ER - }@misc{x,\r\n",
			"Y2  - 2026/03/01/\r\n"},
		bibliography.CSL: {`"family": "van der Berg"`, `"literal": "Heat and Cold Board"`, `"type": "article-journal"`,
			`"literal": "et al."`},
	}
	for format, wants := range tests {
		body, err := bibliography.Make(format, sources())
		if err != nil {
			t.Fatal(err)
		}
		got := string(body)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q:\n%s", format, want, got)
			}
		}
		for _, no := range []string{"src_3", "src_5", "secret", "soon"} {
			if strings.Contains(got, no) {
				t.Errorf("%s has %q:\n%s", format, no, got)
			}
		}
	}
}

func TestCSLHasDatesInParts(t *testing.T) {
	t.Parallel()
	body, err := bibliography.Make(bibliography.CSL, sources())
	if err != nil {
		t.Fatal(err)
	}
	var items []struct {
		ID     string
		Issued struct {
			Parts [][]int `json:"date-parts"`
		}
	}
	if err := json.Unmarshal(body, &items); err != nil {
		t.Fatal(err)
	}
	if len(items) != 3 || len(items[0].Issued.Parts[0]) != 2 || items[1].Issued.Parts[0][2] != 31 ||
		items[2].Issued.Parts != nil {
		t.Errorf("items: %+v", items)
	}
	if none, err := bibliography.Make(bibliography.CSL, nil); err != nil || string(none) != "[]\n" {
		t.Errorf("no sources: %q, %v", none, err)
	}
	if _, err := bibliography.Make("doc", nil); err == nil {
		t.Error("an unknown format is no error")
	}
}
