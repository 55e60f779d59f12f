package text_test

import (
	"slices"
	"testing"

	"nightdesk/pipeline/text"
)

// Preformatted text is compared line by line. A value continues in the lines below it.
func TestPreformattedLinesAreUnits(t *testing.T) {
	t.Parallel()
	const register = "Register\n\n```\nDocket:   PT 57\nStatus:   PENDING; hearing fixed\n" +
		"          for 12 November 2026\n----\n```\n"
	now := "Register\n\n```\nDocket:   PT 57\nStatus:   SETTLED; award final\n          since 2 October 2026\n----\n```\n"
	var got []string
	for _, u := range text.Units(register) {
		got = append(got, register[u.Start:u.End])
	}
	want := []string{"Register", "Docket:   PT 57", "Status:   PENDING; hearing fixed\n          for 12 November 2026"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	d := text.Align(register, now)
	if len(d.Changed) != 1 || len(d.New)+len(d.Withdrawn) != 0 {
		t.Fatalf("%+v", d)
	}
	const other = "\n```\nDocket:   PT 58\nStatus:   Rejected\n```\n" // a record that has not changed
	if again := text.Align(register+other, now+other); len(again.Changed) != 1 || len(again.New) != 0 {
		t.Errorf("beside another record: %+v", again)
	}
	if p := d.Changed[0]; now[p.New.Start:p.New.End] != "Status:   SETTLED; award final\n          since 2 October 2026" {
		t.Errorf("%+v", p)
	}
}
