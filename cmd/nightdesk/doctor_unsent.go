package main

import (
	"context"
	"fmt"
	"slices"

	"nightdesk/jobs"
	"nightdesk/jobs/notify"
)

// checkMail asks the mail server whether it takes digests.
func (a *app) checkMail(ctx context.Context) []checkup {
	const name = "mail"
	mail, err := a.mail()
	switch {
	case err != nil:
		return []checkup{failure(name, err)}
	case mail == nil:
		return nil
	}
	if err := mail.Check(ctx); err != nil {
		return []checkup{failure(name, hintError{err, "Correct mail.server, mail.from or mail.to: signs with a meaning in URLs are percent-encoded in user and password (@ is %40)."})}
	}
	return []checkup{{Name: name, Result: "ok", Text: fmt.Sprintf("%s takes mail from %s to %s", mail.Host(), a.cfg.Mail.From, a.cfg.Mail.To)}}
}

// checkUnsent tells of events and digests that did not reach whom they are for.
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
		i := slices.IndexFunc(webhooks, func(w *notify.Webhook) bool { return w.Key() == u.Webhook })
		switch {
		case u.Webhook == "" && (len(webhooks) > 0 || a.cfg.Mail.Server.Reveal() != ""):
			out = append(out, troubles(u, "mail", "digest", "")...)
		case i >= 0:
			out = append(out, troubles(u, name, "event", " for "+webhooks[i].Host())...)
		case u.Waiting == 0: // nobody wants to know of what was given up for a receiver that is gone
		case u.Webhook == "":
			out = append(out, checkup{Name: "mail", Result: "note", Text: fmt.Sprintf("%s to be sent, and mail.server is not set", counted(u.Waiting, "digest")),
				Hint: "Set mail.server, or delete the tasks of the queue " + u.Queue + " in asynqmon."})
		default:
			out = append(out, checkup{Name: name, Result: "note", Text: fmt.Sprintf("%s for an address that webhook.url does not have (any more)", counted(u.Waiting, "event")),
				Hint: "Give webhook.url the address back, and they are sent; or delete the tasks of the queue " + u.Queue + " in asynqmon."})
		}
	}
	return out
}

// troubles tells what failed of what is for a receiver.
func troubles(u jobs.Unsent, check, thing, to string) (out []checkup) {
	if u.Failed > 0 {
		out = append(out, checkup{Name: check, Result: "note", Text: fmt.Sprintf("%s%s to be sent again: %s", counted(u.Failed, thing), to, u.Error),
			Hint: "Workers try for nearly 18 hours; the queue " + u.Queue + " in asynqmon says when, and sends at once what is run there."})
	}
	if u.GivenUp > 0 {
		out = append(out, checkup{Name: check, Result: "note", Text: fmt.Sprintf("%s%s given up: %s", counted(u.GivenUp, thing), to, u.Error),
			Hint: "They are archived in the queue " + u.Queue + " in asynqmon: run them again there, or delete them."})
	}
	return out
}
