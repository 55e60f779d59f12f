package main

import (
	"strings"
	"testing"

	"github.com/hibiken/asynq"

	"nightdesk/config"
	"nightdesk/jobs"
	"nightdesk/jobs/notify"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// Doctor tells of events that nobody will ever send, as their address is no longer in the settings.
func TestDoctorTellsOfUnsentEvents(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	app := &app{}
	app.cfg.RedisURL = config.NewURL("redis-socket://" + rdb.Options().Addr)
	removed, err := notify.NewWebhook("https://old.example.org/hook", notify.Secret{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer removed.Close()
	d := jobs.NewDispatcher(asynq.NewClientFromRedisClient(rdb), asynq.NewInspectorFromRedisClient(rdb))
	d.Announce(notify.Types, []*notify.Webhook{removed}, false)
	for _, subject := range []string{"one", "two"} {
		if err := d.Notify(t.Context(), notify.Event{Type: notify.RunEnded, Subject: subject}); err != nil {
			t.Fatal(err)
		}
	}
	for address, want := range map[string]int{"": 1, "https://new.example.org/hook": 1, "https://new.example.org/hook,https://old.example.org/hook": 0} {
		app.cfg.Webhook.Secret, app.cfg.Webhook.URL = config.NewSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), config.NewSecret(address)
		got := app.checkUnsent(t.Context())
		if len(got) != want || want == 1 && (!strings.HasPrefix(got[0].Text, "2 events for an address") || !strings.Contains(got[0].Hint, "notifying-"+removed.Key())) {
			t.Errorf("webhook.url %q: %+v", address, got)
		}
	}
}
