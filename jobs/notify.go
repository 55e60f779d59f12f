package jobs

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"nightdesk/jobs/digests"
	"nightdesk/jobs/notify"
	"nightdesk/jobs/stage"
	"nightdesk/jobs/tasks"
	"nightdesk/storage"
	"slices"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
)

// notifySlots is how many notifications one worker sends to a receiver at once.
const notifySlots = 4

// sender sends notifications to their receivers.
type sender struct {
	webhooks []*notify.Webhook
	mail     *notify.Mail // nil: digests are not mailed
	store    storage.Store
	now      func() time.Time
	unit     time.Duration // unit of tasks.NotifyPauses
}

// pause returns the pause before the next try of a notification.
func (s sender) pause(tried int, err error, _ *asynq.Task) time.Duration {
	if errors.Is(err, stage.ErrDrain) {
		return 0
	}
	pause := tasks.NotifyPauses[min(tried, len(tasks.NotifyPauses)-1)] * s.unit
	pause += rand.N(pause/5 + 1)
	var refused *notify.RefusedError
	if errors.As(err, &refused) {
		pause = max(pause, refused.RetryAfter)
	}
	return pause
}

// deliver delivers one event. If a worker is killed after the delivery, another one delivers the same id again.
func (s sender) deliver(ctx context.Context, task *asynq.Task) error {
	var p tasks.WebhookPayload
	if err := tasks.Decode(task, &p); err != nil {
		return err
	}
	i := slices.IndexFunc(s.webhooks, func(h *notify.Webhook) bool { return h.Key() == p.To })
	if i < 0 {
		return errors.New("the address is not in this worker's webhook.url: give all workers the same settings")
	}
	err := s.webhooks[i].Deliver(ctx, p.ID, p.Body, s.now())
	var refused *notify.RefusedError
	if errors.As(err, &refused) && refused.Status == http.StatusGone {
		return tasks.GiveUp(err)
	}
	return err
}

// sendMail mails the digest of a batch, as stored at the time of sending.
func (s sender) sendMail(ctx context.Context, task *asynq.Task) error {
	var p tasks.DigestPayload
	if err := tasks.Decode(task, &p); err != nil {
		return err
	}
	if s.mail == nil {
		return errors.New("this worker has no mail.server setting: give all workers the same settings")
	}
	d, err := digests.Read(ctx, s.store, p.Batch)
	if err != nil {
		return err
	}
	page, err := d.HTML(s.store.Location)
	if err != nil {
		return err
	}
	return s.mail.Send(ctx, notify.Message{
		ID: "digest." + p.Batch + "." + strconv.Itoa(p.Generation), Subject: "Digest of " + p.Batch + ": " + d.Outcome(),
		Text: d.Markdown(s.store.Location), HTML: page, Date: s.now(),
	})
}
