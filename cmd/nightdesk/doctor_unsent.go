package main

import (
	"context"
	"fmt"
	"slices"

	"nightdesk/jobs"
	"nightdesk/jobs/notify"
)

// checkUnsent tells of events that wait for a receiver which the settings do not have: nobody sends them.
func (a *app) checkUnsent(ctx context.Context) []checkup {
	const name = "webhooks"
	webhooks, err := a.webhooks()
	if err != nil {
		return []checkup{failure(name, err)}
	}
	for _, w := range webhooks {
		defer w.Close()
	}
	d, err := a.openDesk(ctx, false)
	if err != nil { // said by the check of Redis
		return nil
	}
	defer d.Close()
	unsent, err := jobs.UnsentEvents(d.redis)
	if err != nil {
		return []checkup{failure(name, err)}
	}
	var out []checkup
	for _, u := range unsent {
		switch {
		case u.Webhook == "" && (len(webhooks) > 0 || a.cfg.Mail.Server.Reveal() != ""):
		case u.Webhook == "":
			out = append(out, checkup{Name: "mail", Result: "note", Text: fmt.Sprintf("%s to be sent, and mail.server is not set", counted(u.Events, "digest")),
				Hint: "Set mail.server, or delete the tasks of the queue notifying in asynqmon."})
		case !slices.ContainsFunc(webhooks, func(w *notify.Webhook) bool { return w.Key() == u.Webhook }):
			out = append(out, checkup{Name: name, Result: "note", Text: fmt.Sprintf("%s for an address that webhook.url does not have (any more)", counted(u.Events, "event")),
				Hint: "Give webhook.url the address back, and they are sent; or delete the tasks of the queue notifying-" + u.Webhook + " in asynqmon."})
		}
	}
	return out
}
