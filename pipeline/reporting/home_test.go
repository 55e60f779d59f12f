package reporting_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/reportingtest"
	"nightdesk/topicqueue"
)

// island is a run whose blocks were planned from sections of one document.
func island() reporting.Input {
	place := []string{"The keeping of lighthouses › Duties", "The keeping of lighthouses › Fog"}
	source := func(document, title string, section []string, offset int, text string) topicqueue.Source {
		s := passage(document, title, section, "", offset, text)
		s.Hash = topicqueue.TextHash(s.Text)
		s.ID = topicqueue.SourceID(s)
		return s
	}
	trace := func(id string, s topicqueue.Source) topicqueue.ToolTrace {
		t := topicqueue.ToolTrace{CitationID: id, ToolType: "query_item", Query: place[0], Source: s}
		for at := 0; at < len(s.Text); { // every sentence is a claim
			end := at + strings.IndexByte(s.Text[at:], '.') + 1
			t.Claims = append(t.Claims, topicqueue.Claim{CitationID: id, SourceID: s.ID, Text: s.Text[at:end], Quote: s.Text[at:end], Start: at, End: end})
			at = end + 1
		}
		return t
	}
	lamp := source("keeping.md", "The keeping of lighthouses", []string{"Duties", "Lamp"}, 100,
		"The keeper of a lighthouse trims the lamp at dusk and again at midnight. A smoking flame darkens the lens. A dark lens shortens the reach of the light by several miles.")
	clock := source("keeping.md", "The keeping of lighthouses", []string{"Duties", "Clockwork"}, 500,
		"A clockwork turns the lens of the lighthouse once in thirty seconds. The keeper winds the clockwork every four hours. Its weight drives it through the night.")
	fog := source("keeping.md", "The keeping of lighthouses", []string{"Fog"}, 900,
		"In fog the light of the lighthouse cannot be seen. The keeper sounds a horn instead of the light. The horn gives two blasts in every minute.")
	news := source("changes.md", "What is new in 1911", []string{"Lamps"}, 0, "The lighthouse now has a new lamp that burns paraffin.")
	block := func(id, title, place string, traces ...topicqueue.ToolTrace) reporting.BlockEvidence {
		return reporting.BlockEvidence{Block: topicqueue.Block{ID: id, Title: title, Status: topicqueue.BlockCompleted,
			Queries: []string{place, title + " lighthouse"}}, Traces: traces}
	}
	return reporting.Input{
		Run: topicqueue.Run{ID: "research_20250601_220000_abcdefghij", Topic: "How is a lighthouse kept?", Options: topicqueue.Options{Language: "en"}},
		Blocks: []reporting.BlockEvidence{
			block("block_1", "Duties", place[0], trace("CIT-1-01", news), trace("CIT-1-02", clock), trace("CIT-1-03", lamp)),
			block("block_2", "Fog", place[1], trace("CIT-2-01", fog), trace("CIT-2-02", lamp), trace("CIT-2-03", clock)),
		},
	}
}

// A section planned from a section of the corpus reads as that section does: in its order, with
// nothing else beside it. Two such sections are never merged, whatever sources they share.
func TestHome(t *testing.T) {
	t.Parallel()
	in := island()
	got, err := (&reporting.Reporter{Now: now}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range reportingtest.CheckVerbatim(got.Markdown, sourceText(in)) {
		t.Error(v)
	}
	body, _, _ := strings.Cut(got.Markdown, "## References")
	at := -1
	for _, want := range []string{"## Short answer", "## Duties", "A smoking flame", "A dark lens", "The keeper winds", "## Fog", "The horn gives"} {
		i := strings.Index(body, want)
		if i < 0 || i < at {
			t.Errorf("%q is missing or out of order", want)
		}
		at = max(at, i)
	}
	short, _, _ := strings.Cut(body, "## Duties")
	if !strings.Contains(short, "trims the lamp at dusk") && !strings.Contains(short, "A clockwork turns") {
		t.Errorf("the short answer does not open a section: %s", short)
	}
	if strings.Contains(body, "paraffin") {
		t.Error("a line of a list of changes stands in the report")
	}
	if strings.Contains(body, "Further findings") || strings.Contains(body, "Duties and Fog") {
		t.Errorf("grab-bag or merged sections:\n%s", body)
	}
	if t.Failed() {
		t.Log(body)
	}
}
