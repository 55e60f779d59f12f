package researching

import (
	"strings"
	"testing"

	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// TestClaimsByDocument: claims of a block from one document are grouped below its name, across iterations.
func TestClaimsByDocument(t *testing.T) {
	t.Parallel()
	trace := func(title, section, text string) topicqueue.ToolTrace {
		return topicqueue.ToolTrace{
			Source: topicqueue.Source{Title: title, Section: []string{title, section}, Date: "2025-06-01"},
			Claims: []topicqueue.Claim{{Text: text}},
		}
	}
	p := progress{traces: []topicqueue.ToolTrace{
		trace("Tides", "Neap", "Neap tides rise 1 m."), trace("Harbour", "Berths", "It has 9 berths."),
		trace("Tides", "Spring", "Spring tides rise 4 m."), trace("Tides", "Neap", "They follow the half moon."),
	}}
	shown := prompts.Decide("en", prompts.DecideData{Claims: p.claimLines(1_000)}).User
	want := `Source: Tides (2025-06-01), Neap
- Neap tides rise 1 m.
- They follow the half moon.
Place: Spring
- Spring tides rise 4 m.
Source: Harbour (2025-06-01), Berths
- It has 9 berths.
`
	if !strings.Contains(shown, want) {
		t.Error(shown)
	}
}
