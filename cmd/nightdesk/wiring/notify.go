package wiring

import (
	"errors"
	"fmt"
	"slices"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/jobs/notify"
)

// Outlets returns the receivers of events and digests; nil if none are configured. It also makes the dispatcher
// announce events to them.
func Outlets(cfg config.Config, d *Desk) (webhooks []*notify.Webhook, mail *notify.Mail, err error) {
	if webhooks, err = NewWebhooks(cfg.Webhook); err != nil {
		return nil, nil, err
	}
	for _, w := range webhooks {
		d.closers = append(d.closers, w.Close)
	}
	if mail, err = NewMail(cfg.Mail); err != nil {
		return nil, nil, err
	}
	d.Dispatcher.Announce(notify.Types, webhooks, mail != nil)
	return webhooks, mail, nil
}

// NewMail returns the mail sender for digests, or nil if mail.server is not set.
func NewMail(m config.Mail) (*notify.Mail, error) {
	if m.Server.Reveal() == "" {
		return nil, nil
	}
	if m.From == "" || m.To == "" {
		return nil, view.Usage(errors.New("mail.server is set: mail.from and mail.to must be, too"))
	}
	mail, err := notify.NewMail(m.Server.Reveal(), m.From, m.To, nil)
	if err != nil {
		return nil, view.Usage(err)
	}
	return mail, nil
}

// NewWebhooks returns the configured webhooks.
func NewWebhooks(set config.Webhook) (webhooks []*notify.Webhook, err error) {
	addresses, secrets := set.Addresses(), set.Secrets()
	if len(secrets) == 0 {
		secrets = []string{""}
	}
	if len(addresses) > 0 && len(secrets) != 1 && len(secrets) != len(addresses) {
		return nil, view.Usage(fmt.Errorf("webhook.url has %d addresses and webhook.secret %d secrets: give one for all "+
			"of them, or one for each, in their order",
			len(addresses), len(secrets)))
	}
	for i, address := range addresses {
		secret, err := notify.ParseSecret(secrets[min(i, len(secrets)-1)])
		if err != nil {
			return nil, view.Usage(fmt.Errorf("webhook.secret: %w", err))
		}
		w, err := notify.NewWebhook(address, secret, 0)
		if err != nil {
			return nil, view.Usage(fmt.Errorf("webhook.url: it %w", err))
		}
		if slices.ContainsFunc(webhooks, func(o *notify.Webhook) bool { return o.Key() == w.Key() }) {
			return nil, view.Usage(fmt.Errorf("webhook.url has an address at %s twice", w.Host()))
		}
		webhooks = append(webhooks, w)
	}
	return webhooks, nil
}
