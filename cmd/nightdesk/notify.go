package main

import (
	"errors"
	"fmt"
	"slices"

	"nightdesk/jobs/notify"
)

// outlets returns where events and digests go; nil where nothing is set up. From then on the desk tells of events.
func (a *app) outlets(d *desk) (webhooks []*notify.Webhook, mail *notify.Mail, err error) {
	if webhooks, err = a.webhooks(); err != nil {
		return nil, nil, err
	}
	for _, w := range webhooks {
		d.closers = append(d.closers, w.Close)
	}
	if mail, err = a.mail(); err != nil {
		return nil, nil, err
	}
	d.dispatcher.Announce(a.cfg.Webhook.Types(), webhooks, mail != nil)
	return webhooks, mail, nil
}

// mail is what sends digests; nil: mail.server is not set.
func (a *app) mail() (*notify.Mail, error) {
	m := a.cfg.Mail
	if m.Server.Reveal() == "" {
		return nil, nil
	}
	if m.From == "" || m.To == "" {
		return nil, usageError{errors.New("mail.server is set: mail.from and mail.to must be, too")}
	}
	mail, err := notify.NewMail(m.Server.Reveal(), m.From, m.To, nil)
	if err != nil {
		return nil, usageError{err}
	}
	return mail, nil
}

// webhooks are those that are set up.
func (a *app) webhooks() (webhooks []*notify.Webhook, err error) {
	addresses, secrets := a.cfg.Webhook.Addresses(), a.cfg.Webhook.Secrets()
	if len(secrets) == 0 {
		secrets = []string{""}
	}
	if len(addresses) > 0 && len(secrets) != 1 && len(secrets) != len(addresses) {
		return nil, usageError{fmt.Errorf("webhook.url has %d addresses and webhook.secret %d secrets: give one for all "+
			"of them, or one for each, in their order",
			len(addresses), len(secrets))}
	}
	for i, address := range addresses {
		secret, err := notify.ParseSecret(secrets[min(i, len(secrets)-1)])
		if err != nil {
			return nil, usageError{fmt.Errorf("webhook.secret: %w", err)}
		}
		w, err := notify.NewWebhook(address, secret, 0)
		if err != nil {
			return nil, usageError{fmt.Errorf("webhook.url: it %w", err)}
		}
		if slices.ContainsFunc(webhooks, func(o *notify.Webhook) bool { return o.Key() == w.Key() }) {
			return nil, usageError{fmt.Errorf("webhook.url has an address at %s twice", w.Host())}
		}
		webhooks = append(webhooks, w)
	}
	return webhooks, nil
}
