package reporting_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/reporting"
	"nightdesk/prompts"
)

// sectionHeadings returns the headings of level two.
func sectionHeadings(markdown string) []string {
	var found []string
	for l := range strings.SplitSeq(markdown, "\n") {
		if h, ok := strings.CutPrefix(l, "## "); ok {
			found = append(found, h)
		}
	}
	return found
}

// No two headings of a report read the same.
func TestHeadingsApart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		topic  string
		titles [2]string
		places [2]string // titles of the documents
		home   bool      // planned from sections of these documents
		want   string
	}{
		"nothing alike":                 {"Keeping a lighthouse", [2]string{"Duties", "Fog"}, [2]string{"Handbook", "Handbook"}, false, "Duties|Fog"},
		"a section called as the topic": {"The log of the keeper", [2]string{"Keeper Log", "Fog"}, [2]string{"Handbook", "Handbook"}, false, "Keeper Log|Fog"},
		"the topic with a modifier":     {"How is the Breton sea horn used?", [2]string{"Sea horn", "Fog"}, [2]string{"Handbook", "Handbook"}, false, "Overview|Fog"},
		"a document and its section":    {"Signals in fog", [2]string{"The Breton Sea Horn", "Sea Horn"}, [2]string{"The Breton Sea Horn", "The Breton Sea Horn"}, true, "The Breton Sea Horn"},
		"sections of two documents":     {"Signals in fog", [2]string{"The Breton Sea Horn", "Sea Horn"}, [2]string{"The Breton Sea Horn", "Pilot's Handbook"}, true, "The Breton Sea Horn|Pilot's Handbook: Sea Horn"},
		"of one document, not planned":  {"Signals in fog", [2]string{"The Breton sea horn", "Sea horn"}, [2]string{"Handbook", "Handbook"}, false, "The Breton sea horn|Sea horn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := island()
			in.Run.Topic = tt.topic
			for i := range in.Blocks {
				b := &in.Blocks[i]
				b.Block.Title, b.Block.Queries = tt.titles[i], nil
				b.Traces = b.Traces[len(b.Traces)-1-i : len(b.Traces)-i] // another one for each
				s := &b.Traces[0].Source
				s.Title, s.Document, s.Section = tt.places[i], tt.places[i], []string{tt.titles[i]}
				if tt.home {
					b.Block.Queries = []string{tt.places[i] + " › " + tt.titles[i]}
				}
			}
			got, err := (&reporting.Reporter{}).Report(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			body, _, _ := strings.Cut(got.Markdown, "## References")
			headings := sectionHeadings(body)
			if len(headings) > 0 && headings[0] == "Short answer" {
				headings = headings[1:]
			}
			if strings.Join(headings, "|") != tt.want {
				t.Errorf("headings %q, want %q in\n%s", headings, tt.want, body)
			}
		})
	}
}

// A model's title that is none gives way to the topic's.
func TestOutlineTitle(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"## Tides of the Atlantic":    "Tides of the Atlantic",
		"report":                      "Topic",
		`{"title": "Tides of the sea`: "Topic",
		"1. 2.":                       "Topic",
	} {
		if got := reporting.RepairOutline(prompts.OutlineAnswer{Title: title}, "Topic", outlineBlocks).Title; got != want {
			t.Errorf("title of %q is %q, want %q", title, got, want)
		}
	}
}
