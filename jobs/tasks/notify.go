package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/hibiken/asynq"

	"nightdesk/jobs/notify"
)

// QueueNotifying is separate from the stages, because a receiver that hangs must not delay reports. Each webhook has
// its own queue, named by its key, and its own slots, so that it does not delay other receivers.
const QueueNotifying = "notifying"

// WebhookQueue returns the queue of a webhook.
func WebhookQueue(webhook string) string { return QueueNotifying + "-" + webhook }

// NotifyPauses are the pauses between the tries of a notification, in units of the pause after an error. If the unit is
// a second, they add up to nearly 18 hours.
var NotifyPauses = []time.Duration{5, 60, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600}

// knownFor is how long a sent notification is remembered, so that it is not sent again when the task that announces it
// is repeated. Receivers can recognize it by its id at any time.
const knownFor = 48 * time.Hour

// WebhookPayload is the content of a task that sends one event to one receiver.
type WebhookPayload struct {
	ID   string          `json:"id"`
	To   string          `json:"to"` // key of the webhook
	Type string          `json:"type"`
	Body json.RawMessage `json:"body"` // exactly as signed and sent
}

func (p *WebhookPayload) check() error {
	if p.ID == "" {
		return errors.New("an id is needed")
	}
	return nil
}

// Announce sets which types of events are sent to which webhooks, and whether digests are mailed. Without it, nothing
// is sent.
func (d *Dispatcher) Announce(types []string, webhooks []*notify.Webhook, mail bool) {
	d.wanted, d.webhooks, d.mail = types, nil, mail
	for _, w := range webhooks {
		d.webhooks = append(d.webhooks, w.Key())
	}
}

// Notify announces an event if its type is wanted. It queues a task per webhook, and a worker sends the event until the
// webhook accepts it. The same event is sent once, however often Notify is called.
func (d *Dispatcher) Notify(ctx context.Context, e notify.Event) error {
	if !slices.Contains(d.wanted, e.Type) {
		return nil
	}
	body, err := e.Body()
	if err != nil {
		return err
	}
	var failed []error
	for _, to := range d.webhooks {
		failed = append(failed, d.notification(ctx, KindWebhook, WebhookQueue(to), "webhook:"+e.ID(),
			WebhookPayload{e.ID(), to, e.Type, body}))
	}
	return errors.Join(failed...)
}

// MailDigest queues the mail with the digest of a batch, if digests are mailed.
func (d *Dispatcher) MailDigest(ctx context.Context, batch string, generation int) error {
	if !d.mail {
		return nil
	}
	return d.notification(ctx, KindMail, QueueNotifying, "mail:"+batch+":"+strconv.Itoa(generation),
		DigestPayload{batch, generation})
}

func (d *Dispatcher) notification(ctx context.Context, kind, queue, id string, p any) error {
	err := d.put(ctx, kind, queue, id, p, asynq.MaxRetry(len(NotifyPauses)), asynq.Retention(knownFor))
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return err
}
