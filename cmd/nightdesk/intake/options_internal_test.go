package intake

import (
	"testing"
	"time"
)

func TestDeadlineAt(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("X", 3600)
	now := time.Date(2026, 3, 31, 22, 30, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"":                     {},
		"23:15":                time.Date(2026, 3, 31, 23, 15, 0, 0, zone),
		"07:00":                time.Date(2026, 4, 1, 7, 0, 0, 0, zone),
		"22:30":                time.Date(2026, 4, 1, 22, 30, 0, 0, zone),
		"2026-04-02 06:00":     time.Date(2026, 4, 2, 6, 0, 0, 0, zone),
		"2026-04-01T05:00:00Z": time.Date(2026, 4, 1, 5, 0, 0, 0, time.UTC),
	} {
		if got, err := DeadlineAt(text, now); err != nil || !got.Equal(want) {
			t.Errorf("deadlineAt(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"7", "25:00", "tomorrow", "2026-03-31 22:00", "2025-01-01T00:00:00Z"} {
		if got, err := DeadlineAt(text, now); err == nil {
			t.Errorf("deadlineAt(%q) = %v, want an error", text, got)
		}
	}
}
