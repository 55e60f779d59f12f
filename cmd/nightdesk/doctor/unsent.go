package doctor

import (
	"context"
	"fmt"
	"slices"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs"
	"nightdesk/jobs/notify"
)

// checkMail checks whether the mail server accepts digests.
func checkMail(ctx context.Context, cfg config.Config, _ *view.Console) []checkup {
	const name = "mail"
	mail, err := wiring.NewMail(cfg.Mail)
	switch {
	case err != nil:
		return []checkup{failure(name, err)}
	case mail == nil:
		return nil
	}
	if err := mail.Check(ctx); err != nil {
		return []checkup{failure(name,
			view.Hint(err, "Correct mail.server, mail.from or mail.to. Percent-encode reserved characters in "+
				"user and password (@ is %40)."))}
	}
	return []checkup{{Name: name, Result: "ok", Text: fmt.Sprintf("%s takes mail from %s to %s", mail.Host(),
		cfg.Mail.From, cfg.Mail.To)}}
}

// checkUnsent reports events and digests that were not delivered.
func checkUnsent(ctx context.Context, cfg config.Config, con *view.Console) []checkup {
	const name = "webhooks"
	webhooks, err := wiring.NewWebhooks(cfg.Webhook)
	if err != nil {
		return []checkup{failure(name, err)}
	}
	for _, w := range webhooks {
		defer w.Close()
	}
	d, err := wiring.OpenDesk(ctx, cfg, con, false)
	if err != nil { // reported by checkRedis
		return nil
	}
	defer d.Close()
	unsent, err := jobs.UnsentEvents(d.Redis)
	if err != nil {
		return []checkup{failure(name, err)}
	}
	var out []checkup
	for _, u := range unsent {
		i := slices.IndexFunc(webhooks, func(w *notify.Webhook) bool { return w.Key() == u.Webhook })
		switch {
		case u.Webhook == "" && (len(webhooks) > 0 || cfg.Mail.Server.Reveal() != ""):
			out = append(out, troubles(u, "mail", "digest", "")...)
		case i >= 0:
			out = append(out, troubles(u, name, "event", " for "+webhooks[i].Host())...)
		case u.Waiting == 0: // given up, and the receiver is no longer configured
		case u.Webhook == "":
			out = append(out, checkup{Name: "mail", Result: "note",
				Text: fmt.Sprintf("%s waiting to be sent, but mail.server is not set", view.Counted(u.Waiting, "digest")),
				Hint: "Set mail.server to send them; until then they wait in the queue " + u.Queue + "."})
		default:
			out = append(out, checkup{Name: name, Result: "note",
				Text: fmt.Sprintf("%s for an address that is not in webhook.url", view.Counted(u.Waiting, "event")),
				Hint: "Add the address to webhook.url to send them; until then they wait in the queue " +
					u.Queue + "."})
		}
	}
	return out
}

// troubles returns the delivery failures for one receiver.
func troubles(u jobs.Unsent, check, thing, to string) (out []checkup) {
	if u.Failed > 0 {
		out = append(out, checkup{Name: check, Result: "note", Text: fmt.Sprintf("%s%s to be sent again: %s",
			view.Counted(u.Failed, thing), to, u.Error),
			Hint: "Workers retry for nearly 18 hours. To send them now: `nightdesk retry --notifications` (queue " +
				u.Queue + ")."})
	}
	if u.GivenUp > 0 {
		out = append(out, checkup{Name: check, Result: "note",
			Text: fmt.Sprintf("%s%s given up: %s", view.Counted(u.GivenUp, thing), to, u.Error),
			Hint: "When the receiver is back, send them with `nightdesk retry --notifications` (archived in queue " +
				u.Queue + ")."})
	}
	return out
}
