package main

import (
	"context"
	"fmt"
	"slices"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/jobs"
	"nightdesk/jobs/notify"
)

// retryNotifications resends notifications that could not be delivered.
func retryNotifications(ctx context.Context, s *session) error {
	webhooks, err := wiring.NewWebhooks(s.cfg.Webhook)
	if err != nil {
		return err
	}
	for _, w := range webhooks {
		defer w.Close()
	}
	var retried []jobs.Unsent
	err = s.withDesk(ctx, func(d *wiring.Desk) (err error) {
		retried, err = jobs.RetryNotifications(d.Redis)
		return err
	})
	if err != nil {
		return err
	}
	if s.JSON {
		for _, u := range retried {
			if err := s.PrintJSON(map[string]any{"queue": u.Queue, "notifications": u.Waiting}, true); err != nil {
				return err
			}
		}
		return nil
	}
	if len(retried) == 0 {
		s.Say("no notification waits to be retried")
	}
	for _, u := range retried {
		line := view.Counted(u.Waiting, "digest") + " by mail"
		if u.Webhook != "" {
			to := "an address that is not in webhook.url"
			if i := slices.IndexFunc(webhooks, func(w *notify.Webhook) bool { return w.Key() == u.Webhook }); i >= 0 {
				to = webhooks[i].Host()
			}
			line = view.Counted(u.Waiting, "event") + " for " + to
		}
		fmt.Fprintf(s.Out, "%s: a worker sends them now\n", line)
	}
	return nil
}
