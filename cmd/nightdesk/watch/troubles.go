package watch

import (
	"context"
	"time"

	"nightdesk/cmd/nightdesk/desk/health"
)

// troubleLook is the interval between checks for troubles.
const troubleLook = 5 * time.Second

// watchedTroubles tells a watcher why there is no progress.
type watchedTroubles struct {
	look func(ctx context.Context) []health.Check
	at   time.Time
	told map[string]string // reported texts by subject
}

// tell reports changes since the last check.
func (w *watchedTroubles) tell(ctx context.Context, n Noter) {
	if time.Since(w.at) < troubleLook {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	now := map[string]string{}
	for _, t := range w.look(ctx) {
		now[t.Name] = t.Text
		if w.told[t.Name] == "" {
			n.Note("%s. %s", t.Text, t.Hint)
		}
	}
	if ctx.Err() != nil { // errors of Redis are reported elsewhere
		return
	}
	for of := range w.told {
		if now[of] == "" {
			n.Note("%s: in order again", of)
		}
	}
	w.at, w.told = time.Now(), now
}
