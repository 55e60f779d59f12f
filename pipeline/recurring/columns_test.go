package recurring_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/recurring"
)

// The first row names the columns unless its cells are figures. A name with a figure does not count.
func TestColumns(t *testing.T) {
	t.Parallel()
	const row = "| 2025 | 10.6 | 9.7 |"
	for head, named := range map[string]bool{
		"| Year | Readmitted within 30 days (%) | Escalated (%) |": true,
		"| Year | 2024 | 2025 |":                                   true,
		"| 2024 | 11.1 | 9.2 |":                                    false,
		"| 2024 | €11.1 million | 9.2 % |":                         false,
	} {
		s := "Outcomes\n\n" + head + "\n" + row + "\n"
		if got := recurring.Columns(s, strings.Index(s, row)); (got == head) != named || got != "" && got != head {
			t.Errorf("%s: %q", head, got)
		}
	}
}
