package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs"
	"nightdesk/jobs/notify"
)

// retryNotifications resends notifications that could not be delivered.
func retryNotifications(ctx context.Context, cfg config.Config, con *view.Console) (err error) {
	webhooks, err := wiring.NewWebhooks(cfg.Webhook)
	if err != nil {
		return err
	}
	for _, w := range webhooks {
		defer w.Close()
	}
	d, err := wiring.OpenDesk(ctx, cfg, con, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	retried, err := jobs.RetryNotifications(d.Redis)
	if err != nil {
		return err
	}
	if con.JSON {
		for _, u := range retried {
			if err := con.PrintJSON(map[string]any{"queue": u.Queue, "notifications": u.Waiting}, true); err != nil {
				return err
			}
		}
		return nil
	}
	if len(retried) == 0 {
		con.Say("no notification waits to be retried")
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
		fmt.Fprintf(con.Out, "%s: a worker sends them now\n", line)
	}
	return nil
}
