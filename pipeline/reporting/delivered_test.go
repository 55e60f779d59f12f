package reporting_test

import (
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

// TestCompare: sentences and markers in all places where reports have them are found, what was not checked shows.
func TestCompare(t *testing.T) {
	t.Parallel()
	var traces []topicqueue.ToolTrace
	for _, id := range []string{"CIT-1-01", "CIT-1-02", "CIT-2-01"} {
		traces = append(traces, topicqueue.ToolTrace{CitationID: id, Source: topicqueue.Source{ID: id, Title: id, URL: "https://example.org/" + id}})
	}
	registry := citation.NewRegistry(traces)
	const a, b, c = "[[CIT-1-01](#ref-cit-1-01)]", "[[CIT-1-02](#ref-cit-1-02)]", "[[CIT-2-01](#ref-cit-2-01)]"
	sentence := func(text string, ids ...string) reporting.CheckedSentence {
		return reporting.CheckedSentence{Text: text, Citations: ids, Verdict: support.Supported, Action: reporting.ActionKept}
	}
	references := "\n\n## References\n\n"
	for _, t := range traces {
		references += `<a id="ref-` + strings.ToLower(t.CitationID) + `"></a> [` + t.CitationID + "] web\n[" + t.Source.Title + "](" + t.Source.URL + ")\n\n"
	}
	checked := []reporting.CheckedSentence{
		sentence("Pumps are loud.", "CIT-1-01"), sentence("Fans hum.", "CIT-1-02"), sentence("Pumps are loud.", "CIT-1-01"),
		sentence("says the maker.", "CIT-1-02", "CIT-2-01"), sentence("noise | 40 dB", "CIT-2-01"),
	}
	whole := "# Noise\n\nPumps are loud " + a + ". Fans hum. " + b + "\nPumps are loud " + a + ".\n\n" + b + " says\nthe maker. " + c +
		"\n\n- no citation\n\n| what | how much |\n|---|---|\n| noise | 40 dB " + c + " |\n\n" + c + "\n\n![Curve](../cache/x/figures/1.svg)\n\n*Figure 1: Curve* " + a
	compare := func(body string) reporting.Difference {
		v := reporting.Verification{Sentences: checked}
		v.Valid = verification.Verify(registry, whole+references, verification.Options{}).Valid
		return v.Compare(body+references, registry, nil)
	}
	if d := compare(whole); len(d.Absent)+len(d.Unchecked)+len(d.References) > 0 {
		t.Errorf("the report that was checked: %+v", d)
	}
	// A sentence that is the end of a longer one, which stands before it, is found at its own place.
	checked = append(checked, sentence("They say: Fans hum.", "CIT-1-02"))
	if d := compare("They say: Fans hum. " + b + "\n\n" + whole); len(d.Absent)+len(d.Unchecked) > 0 {
		t.Errorf("the end of a longer sentence: %+v", d)
	}
	checked = checked[:len(checked)-1]
	// What was outside when the report was written is so below the head that it gets, too, also in records of old.
	opened, head := "# Noise\n\n"+c+" Pumps leak. Pumps sing "+b+".", "> 2026-03-01 · completed\n\n"
	for _, recorded := range [][]string{
		compare(opened).Unchecked, {"# Noise  [CIT-2-01]", "# Noise Pumps leak. Pumps sing [CIT-1-02]"},
	} {
		v := reporting.Verification{Outside: reporting.Difference{Unchecked: recorded}}
		below := opened
		if recorded[0] != "# Noise  [CIT-2-01]" {
			below = strings.Replace(opened, "# Noise\n\n", "# Noise\n\n"+head, 1)
		}
		if d := v.Compare(below+references, registry, nil); len(recorded) != 2 || len(d.Unchecked) > 0 {
			t.Errorf("recorded %q, found %q", recorded, d.Unchecked)
		}
	}
	for name, c := range map[string]struct {
		body              string
		absent, unchecked []string
	}{
		"with another source":    {"# Noise\n\nFans hum " + a + ".", []string{"Fans hum."}, []string{"Fans hum [CIT-1-01]"}},
		"in another sentence":    {"It is not true that Fans hum. " + b, []string{"Fans hum."}, []string{"It is not true that Fans hum. [CIT-1-02]"}},
		"behind another one":     {"Fans hum " + b + " Pumps leak " + a + ".", nil, nil},
		"with a marker too many": {"Fans hum " + b + a + ".", []string{"Fans hum."}, nil},
	} {
		d := compare(c.body)
		if c.absent != nil && !slices.Contains(d.Absent, c.absent[0]) || len(d.Unchecked) == 0 || c.unchecked != nil && !slices.Contains(d.Unchecked, c.unchecked[0]) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
