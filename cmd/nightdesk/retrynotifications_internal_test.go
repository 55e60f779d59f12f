package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hibiken/asynq"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/jobs/notify"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestRetryNotifications: what was given up can be sent again.
func TestRetryNotifications(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	con := &view.Console{}
	var cfg config.Config
	cfg.RedisURL = config.NewURL("redis-socket://" + rdb.Options().Addr)
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
	if _, err := asynq.NewInspectorFromRedisClient(rdb).ArchiveAllPendingTasks("notifying-" + removed.Key()); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cfg.Webhook.Secret = config.NewSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	con.Out, con.Err, cfg.Webhook.URL = &out, &out, config.NewSecret("https://new.example.org/hook")
	for _, want := range []string{"2 notifications of queue notifying-" + removed.Key(), "nightdesk: no notification"} {
		out.Reset()
		s := &session{desk.Settings{Console: con, Config: cfg}}
		if err := retryNotifications(t.Context(), s); err != nil || !strings.HasPrefix(out.String(), want) {
			t.Errorf("%q, %v; want %q", out.String(), err, want)
		}
		cfg.Webhook.URL = config.NewSecret("")
	}
}
