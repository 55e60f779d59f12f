package health

import (
	"net"
	"strings"
	"testing"

	"github.com/hibiken/asynq"

	"nightdesk/config"
	"nightdesk/jobs/notify"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// Doctor tells of events that nobody will ever send, as their address is no longer in the settings.
func TestDoctorTellsOfUnsentEvents(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	c := checkerOf(t, rdb)
	removed, err := notify.NewWebhook("https://old.example.org/hook", notify.Secret{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer removed.Close()
	d := tasks.NewDispatcher(asynq.NewClientFromRedisClient(rdb), asynq.NewInspectorFromRedisClient(rdb))
	d.Announce(notify.Types, []*notify.Webhook{removed}, false)
	for _, subject := range []string{"one", "two"} {
		if err := d.Notify(t.Context(), notify.Event{Type: notify.RunEnded, Subject: subject}); err != nil {
			t.Fatal(err)
		}
	}
	for address, want := range map[string]int{"": 1, "https://new.example.org/hook": 1, "https://new.example.org/hook,https://old.example.org/hook": 0} {
		c.Config.Webhook.Secret, c.Config.Webhook.URL = config.NewSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), config.NewSecret(address)
		got := named(t.Context(), c, "webhooks")
		if len(got) != want || want == 1 && (!strings.HasPrefix(got[0].Text, "2 events for an address") || !strings.Contains(got[0].Hint, "notifying-"+removed.Key())) {
			t.Errorf("webhook.url %q: %+v", address, got)
		}
	}
}

// Doctor tells of events that a receiver has refused, and asks the mail server before there is a digest to send.
func TestDoctorTellsOfTroubles(t *testing.T) {
	t.Parallel()
	got := made(func(r report) {
		undelivered(r, tasks.Unsent{Webhook: "abc", Queue: "notifying-abc", Waiting: 5, Failed: 2, GivenUp: 1, Error: "it answers 500"}, "event", " for hooks.example.org")
	})
	for i, want := range []string{"2 events for hooks.example.org to be sent again: it answers 500", "1 event for hooks.example.org given up: it answers 500"} {
		if i >= len(got) || got[i].Text != want || !strings.Contains(got[i].Hint, "notifying-abc") {
			t.Errorf("want %q: %+v", want, got)
		}
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	var cfg config.Config
	for _, c := range []struct{ server, to, want string }{
		{"", "", ""},
		{"smtp://" + closed.Addr().String(), "", "mail.from and mail.to must be"},
		{"smtp://" + closed.Addr().String(), "b@example.org", closed.Addr().String()},
	} {
		cfg.Mail.Server, cfg.Mail.From, cfg.Mail.To = config.NewURL(c.server), "a@example.org", c.to
		got := made(func(r report) {
			if err := (Checker{Config: cfg}).mail(t.Context(), r); err != nil {
				r.failed("", "%v", err)
			}
		})
		if c.want == "" && got != nil || c.want != "" && (len(got) != 1 || got[0].Result != "failed" || !strings.Contains(got[0].Text, c.want)) {
			t.Errorf("%q to %q: %+v", c.server, c.to, got)
		}
	}
}
