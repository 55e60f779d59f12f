package history_test

import (
	"fmt"
	"strings"
	"testing"

	"nightdesk/jobs/history"
)

// TestCompare: differences between two reports are shown in their section, common text once, and text of the older
// report next to its former neighbours.
func TestCompare(t *testing.T) {
	t.Parallel()
	const old = "The port is busy every day.\n\n## Size\n\nThe port has **40** cranes on three piers. " +
		"It lies in the bay of Gern. A ferry goes to the islands.\n\n| what | how much |\n|---|---|\n| berths | 12 |\n\n" +
		"## People\n\nIt employs 900 people in two shifts."
	const now = "The port is busy every day.\n\n## Size\n\nThe port has **44** cranes on three piers. " +
		"It lies in the bay of Gern.\n\n| what | how much |\n|---|---|\n| berths | 14 |\n\n" +
		"## People\n\nIt employs 900 people in two shifts. " +
		"Volunteers paint the lighthouse each spring."
	var got strings.Builder
	for _, p := range history.Compare(old, now) {
		fmt.Fprintf(&got, "%d %s\n", p.Level, p.Title)
		for _, r := range p.Rows {
			fmt.Fprintf(&got, "- %s %d: %s -> %s\n", r.Kind, r.Count, r.Old, r.New)
		}
	}
	const want = `0 
- same 1:  -> The port is busy every day.
2 Size
- changed 1: The port has 40 cranes on three piers. -> The port has 44 cranes on three piers.
- same 1:  -> It lies in the bay of Gern.
- withdrawn 1: A ferry goes to the islands. -> 
- same 1:  -> what · how much
- changed 1: berths · 12 -> berths · 14
2 People
- same 1:  -> It employs 900 people in two shifts.
- new 1:  -> Volunteers paint the lighthouse each spring.
`
	if got.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
	}
	if parts := history.Compare("", ""); len(parts) > 0 {
		t.Errorf("nothing and nothing: %+v", parts)
	}
	for _, p := range history.Compare(old, old) {
		for _, r := range p.Rows {
			if r.Kind != history.Same {
				t.Errorf("the same report: %+v", r)
			}
		}
	}
}
