package main

import (
	"errors"
	"fmt"

	"nightdesk/jobs/notify"
)

// outlets returns where events and digests go; nil where nothing is set up. From then on the desk tells of events.
func (a *app) outlets(d *desk) (webhook *notify.Webhook, mail *notify.Mail, err error) {
	w, m := a.cfg.Webhook, a.cfg.Mail
	var types []string
	if address := w.URL.Reveal(); address != "" {
		secret, err := notify.ParseSecret(w.Secret.Reveal())
		if err != nil {
			return nil, nil, usageError{fmt.Errorf("webhook.secret: %w", err)}
		}
		if webhook, err = notify.NewWebhook(address, secret, 0); err != nil {
			return nil, nil, usageError{fmt.Errorf("webhook.url: it %w", err)}
		}
		d.closers = append(d.closers, webhook.Close)
		types = w.Types()
	}
	if server := m.Server.Reveal(); server != "" {
		if m.From == "" || m.To == "" {
			return nil, nil, usageError{errors.New("mail.server is set: mail.from and mail.to must be, too")}
		}
		if mail, err = notify.NewMail(server, m.From, m.To, nil); err != nil {
			return nil, nil, usageError{err}
		}
	}
	d.dispatcher.Announce(types, mail != nil)
	return webhook, mail, nil
}
