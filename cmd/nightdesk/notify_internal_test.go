package main

import (
	"slices"
	"testing"

	"nightdesk/config"
	"nightdesk/jobs/notify"
)

// TestEventTypes: config, which may not know package notify, has the same types.
func TestEventTypes(t *testing.T) {
	t.Parallel()
	if got := (config.Webhook{}).Types(); !slices.Equal(got, notify.Types) {
		t.Errorf("config has %q, notify %q", got, notify.Types)
	}
}
