package main

import (
	"slices"
	"testing"
	"time"

	"nightdesk/config"
	"nightdesk/jobs/notify"
	"nightdesk/topicqueue/schedule"
)

// TestEventTypes: config, which may not know package notify, has the same types.
func TestEventTypes(t *testing.T) {
	t.Parallel()
	if got := (config.Webhook{}).Types(); !slices.Equal(got, notify.Types) {
		t.Errorf("config has %q, notify %q", got, notify.Types)
	}
}

func TestPausedEvent(t *testing.T) {
	t.Parallel()
	r := schedule.Record{Paused: "three nights failed", PausedAt: time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC), Failures: 3}
	r.Name = "nightly"
	body, err := pausedEvent(r).Body()
	want := `{"type":"schedule.paused","timestamp":"2026-03-01T03:00:00Z","data":{"failures":3,"reason":"three nights failed","schedule":"nightly"}}`
	if err != nil || string(body) != want {
		t.Errorf("%s, %v; want %s", body, err, want)
	}
	later := r
	later.PausedAt = r.PausedAt.Add(24 * time.Hour)
	if pausedEvent(r).ID() == pausedEvent(later).ID() {
		t.Error("two pauses are one event")
	}
}
