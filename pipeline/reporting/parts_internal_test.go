package reporting

import (
	"slices"
	"testing"

	"nightdesk/pipeline/report"

	"github.com/google/go-cmp/cmp"
)

func TestTextOf(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"A.\r\n\r\nB.": "A.\n\nB.",
		"Sure! Here is the section on locks:\n\nA.": "A.",
		"Here is a fact.\n\nA.":                     "Here is a fact.\n\nA.",
		" \n ":                                      "",
		"I'm sorry, but I can't help with that.":    "",
		"抱歉，我无法完成。":                                 "",
		`{"section_content": "A."}`:                 "",
		"```json\n{\"a\": 1}\n```":                  "",
	} {
		if got, ok := textOf(in); got != want || ok != (want != "") {
			t.Errorf("textOf(%q) = %q, %v, want %q", in, got, ok, want)
		}
	}
}

// Only the end of a paragraph goes, and what goes is recorded.
func TestDropRepeated(t *testing.T) {
	t.Parallel()
	const first = "Every change is appended to the log before the data pages are altered [CIT-1-01]. Recovery reads the log from its last checkpoint on. [CIT-1-02]"
	sections := []part{
		{partText: partText{Blocks: report.Parse(first + " It is short.")}},
		{partText: partText{Blocks: report.Parse("A standby applies the records at once. [CIT-2-01] Every change is appended to the log before the data pages are altered. [CIT-2-02] That takes four minutes [CIT-2-03].")}},
		{partText: partText{Blocks: report.Parse("### Costs\n\nThroughput dropped by 38 % [CIT-3-02].\n\nRecovery reads the log from its last checkpoint on [CIT-3-01].\n\n### Again\n\n" +
			"Recovery reads the log from its last checkpoint on [CIT-3-01].\n\nThat mark has moved since [CIT-3-03].")}},
		{partText: partText{Blocks: report.Parse("Recovery reads the log from its last checkpoint on [CIT-4-01].")}},
	}
	want := []string{
		report.Canonical(sections[0].Blocks), report.Canonical(sections[1].Blocks), // another sentence of the paragraph may refer to the repeated one
		"### Costs\n\nThroughput dropped by 38 % [CIT-3-02].\n\n### Again\n\nThat mark has moved since [CIT-3-03].",
		report.Canonical(sections[3].Blocks), // all there is
	}
	dropRepeated(sections)
	for i, s := range sections {
		if diff := cmp.Diff(want[i], report.Canonical(s.Blocks)); diff != "" {
			t.Errorf("section %d (-want +got):\n%s", i, diff)
		}
	}
	if diff := cmp.Diff(slices.Repeat([]string{"Recovery reads the log from its last checkpoint on."}, 2), sections[2].Repeated); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

func TestUncited(t *testing.T) {
	t.Parallel()
	body := "The log is written before the data pages are altered [CIT-1-01]. The standby applies its records at once. [CIT-2-01] Nobody has measured how long this takes.\n\n```\nThis line of code is no sentence at all.\n```"
	if n := uncited(report.Parse(body)); n != 1 {
		t.Errorf("%d uncited sentences, want 1", n)
	}
}
