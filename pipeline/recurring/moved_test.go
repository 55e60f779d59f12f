package recurring_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/recurring"
)

// moved formats the result of Moved as lines.
func moved(old, now string) []string {
	d, _ := recurring.Span{Since: "2026-03-01", Now: "2026-03-02"}.Moved(old, now)
	var lines []string
	for _, p := range d.Changed {
		_, a, b := recurring.Differing(old[p.Old.Start:p.Old.End], now[p.New.Start:p.New.End])
		lines = append(lines, fmt.Sprintf("%s -> %s", a, b))
	}
	for _, u := range d.New {
		lines = append(lines, "new: "+now[u.Start:u.End])
	}
	for _, u := range d.Withdrawn {
		lines = append(lines, "withdrawn: "+old[u.Start:u.End])
	}
	return lines
}

const harbour = `# Fir Harbour

The harbour covers 5,100 square metres. Its quays are 900 metres long, and the port employs 500 people.

## Sites

- Ashby: foundry with 150 workers
- Colne: warehouse with 6,100 pallets
- Battery plant

| Year | Ships | Share |
|------|-------|-------|
| 2023 | 410 | 44 % |
| 2024 | 500 | 45 % |

The lawsuit of Kern Labs about patents is pending. The works are open to visitors on Sundays.

Fir Harbour will open its second quay in Ilkley on 12 May 2026.

Last updated: 3 February 2026.`

func TestMoved(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		old, now string // old: of harbour, in whose place now comes
		want     []string
	}{
		{name: "nothing", old: "", now: ""},
		{name: "white space and emphasis", old: "The harbour covers 5,100", now: "The   **harbour**\ncovers 5,100"},
		{name: "number", old: "500 people", now: "620 people", want: []string{"500 -> 620"}},
		{name: "number written otherwise", old: "5,100 square", now: "5100 square"},
		{name: "unit written otherwise", old: "900 metres", now: "0.9 km"},
		{name: "number in a table", old: "410 | 44 %", now: "420 | 44 %", want: []string{"410 -> 420"}},
		{name: "row written otherwise", old: "| 2024 | 500 |", now: "| 2024 | 500.0 |"},
		{name: "row added", old: "| 2024 | 500 | 45 % |", now: "| 2024 | 500 | 45 % |\n| 2025 | 520 | 47 % |", want: []string{"new: | 2025 | 520 | 47 % |"}},
		{name: "row withdrawn", old: "| 2023 | 410 | 44 % |\n", now: "", want: []string{"withdrawn: | 2023 | 410 | 44 % |"}},
		{name: "item changed", old: "150 workers", now: "990 workers", want: []string{"150 -> 990"}},
		{name: "item withdrawn", old: "- Battery plant\n", now: "", want: []string{"withdrawn: Battery plant"}},
		{name: "item added", old: "- Battery plant", now: "- Battery plant\n- A new depot in Spain", want: []string{"new: A new depot in Spain"}},
		{name: "list that becomes a sentence", old: "- Ashby: foundry with 150 workers\n- Colne: warehouse with 6,100 pallets\n- Battery plant",
			now: "Ashby: foundry with 150 workers. Colne: warehouse with 6,100 pallets. Battery plant."},
		{name: "items numbered", old: "- Ashby", now: "1. Ashby"},
		{name: "status", old: "is pending", now: "was settled for 3 million euros", want: []string{"is pending -> was settled for 3 million euros"}},
		{name: "status with other words", old: "The lawsuit of Kern Labs about patents is pending.", now: "Kern Labs and the port settled the lawsuit about patents in March.",
			want: []string{" -> "}},
		{name: "negation", old: "works are open", now: "works are not open", want: []string{"are open -> are not open"}},
		{name: "date", old: "12 May 2026", now: "3 September 2026", want: []string{"12 May 2026 -> 3 September 2026"}},
		{name: "cancelled", old: "will open its", now: "has cancelled its", want: []string{"will open -> has cancelled"}},
		{name: "misspelt", old: "foundry", now: "foundary"},
		{name: "misspelt, neighbours in exchange", old: "quays are", now: "quays aer"},
		{name: "another form", old: "covers 5,100", now: "covered 5,100", want: []string{"covers -> covered"}},
		{name: "the contrary by two letters", old: "The works are open", now: "The works are opened",
			want: []string{"open -> opened"}},
		{name: "sentence within a paragraph", old: "square metres. Its", now: "square metres. A storm destroyed the old mole. Its",
			want: []string{"new: A storm destroyed the old mole."}},
		{name: "sentence moved to another part", old: " The works are open to visitors on Sundays.\n", now: "\nThe works are open to visitors on Sundays.\n"},
		{name: "footer", old: "3 February 2026", now: "1 March 2026"},
		{name: "footer that goes back", old: "3 February 2026", now: "3 January 2026", want: []string{"3 February 2026 -> 3 January 2026"}},
		{name: "footer of the future", old: "Last updated: 3 February 2026", now: "Next assembly: 3 June 2026",
			want: []string{"new: Next assembly: 3 June 2026.", "withdrawn: Last updated: 3 February 2026."}},
		{name: "printed", old: "3 February 2026.", now: "3 February 2026.\n\nPrinted on 2 March 2026, 10:15."},
		{name: "headings", old: "## Sites", now: "## Places and people"},
		{name: "menu", old: "# Fir Harbour\n", now: "Home\n\nTickets 12\n\n5 comments\n\n# Fir Harbour\n"},
		{name: "question", old: "The lawsuit", now: "What of the lawsuit?\n\nThe lawsuit"},
		{name: "percentage added", old: "500 people.", now: "500 people, an increase of 12 percent.", want: []string{"people -> people, an increase of 12 percent"}},
		{name: "another sentence in its place", old: "The lawsuit of Kern Labs about patents is pending.", now: "The lighthouse of Fir Harbour burns 12 litres of oil.",
			want: []string{"new: The lighthouse of Fir Harbour burns 12 litres of oil.", "withdrawn: The lawsuit of Kern Labs about patents is pending."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, moved(harbour, replaced(t, harbour, tt.old, tt.now))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
