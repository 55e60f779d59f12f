package watch

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"nightdesk/cmd/nightdesk/desk/health"
)

type notes []string

func (n *notes) Note(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }

// TestWatchedTroubles: a watcher is told of a trouble once, and when it is over.
func TestWatchedTroubles(t *testing.T) {
	t.Parallel()
	now := []health.Check{{Name: "workers", Text: "no worker is running", Hint: "Start one."}}
	w := watchedTroubles{look: func(context.Context) []health.Check { return now }}
	var told notes
	look := func() { w.at = time.Time{}; w.tell(t.Context(), &told) }
	look()
	look()
	w.tell(t.Context(), &told) // too soon
	now = nil
	look()
	look()
	if want := []string{"no worker is running. Start one.", "workers: in order again"}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
}
