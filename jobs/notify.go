package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hibiken/asynq"

	"nightdesk/jobs/notify"
	"nightdesk/pipeline/digest"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Kinds of notification tasks.
const (
	KindWebhook = "notify:webhook"
	KindMail    = "notify:mail"
)

// queueNotifying is separate from the stages, because a receiver that hangs must not delay reports. Each webhook has
// its own queue, named by its key, and its own slots, so that it does not delay other receivers.
const queueNotifying = "notifying"

func queueOf(webhook string) string { return queueNotifying + "-" + webhook }

// notifySlots is how many notifications one worker sends to a receiver at once.
const notifySlots = 4

// notifyPauses are the pauses between the tries of a notification, in units of Settings.RetryPause. If the unit is a
// second, they add up to nearly 18 hours.
var notifyPauses = []time.Duration{5, 60, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600}

// knownFor is how long a sent notification is remembered, so that it is not sent again when the task that announces it
// is repeated. Receivers can recognize it by its id at any time.
const knownFor = 48 * time.Hour

type webhookPayload struct {
	ID   string          `json:"id"`
	To   string          `json:"to"` // key of the webhook; empty: all webhooks, from a version that supported only one
	Type string          `json:"type"`
	Body json.RawMessage `json:"body"` // exactly as signed and sent
}

func (p *webhookPayload) check() error {
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
		failed = append(failed, d.send(ctx, webhookPayload{e.ID(), to, e.Type, body}))
	}
	return errors.Join(failed...)
}

func (d *Dispatcher) send(ctx context.Context, p webhookPayload) error {
	return d.enqueueNotification(ctx, KindWebhook, queueOf(p.To), "webhook:"+p.ID, p)
}

// mailDigest queues the mail with the digest of a batch, if digests are mailed.
func (d *Dispatcher) mailDigest(ctx context.Context, batch string, generation int) error {
	if !d.mail {
		return nil
	}
	return d.enqueueNotification(ctx, KindMail, queueNotifying, "mail:"+batch+":"+strconv.Itoa(generation),
		digestPayload{batch, generation})
}

func (d *Dispatcher) enqueueNotification(ctx context.Context, kind, queue, id string, p any) error {
	err := d.put(ctx, kind, queue, id, p, asynq.MaxRetry(len(notifyPauses)), asynq.Retention(knownFor))
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return err
}

// sender sends notifications to their receivers.
type sender struct {
	webhooks   []*notify.Webhook
	mail       *notify.Mail // nil: digests are not mailed
	dispatcher *Dispatcher
	store      storage.Store
	now        func() time.Time
	unit       time.Duration // unit of notifyPauses
}

// pause returns the pause before the next try of a notification.
func (s sender) pause(tried int, err error, _ *asynq.Task) time.Duration {
	if errors.Is(err, errDrain) {
		return 0
	}
	pause := notifyPauses[min(tried, len(notifyPauses)-1)] * s.unit
	pause += rand.N(pause/5 + 1)
	var refused *notify.RefusedError
	if errors.As(err, &refused) {
		pause = max(pause, refused.RetryAfter)
	}
	return pause
}

// deliver delivers one event. If a worker is killed after the delivery, another one delivers the same id again.
func (s sender) deliver(ctx context.Context, task *asynq.Task) error {
	var p webhookPayload
	if err := decodeTask(task, &p); err != nil {
		return err
	}
	if p.To == "" {
		var failed []error
		for _, h := range s.webhooks {
			p.To = h.Key()
			failed = append(failed, s.dispatcher.send(ctx, p))
		}
		return errors.Join(failed...)
	}
	i := slices.IndexFunc(s.webhooks, func(h *notify.Webhook) bool { return h.Key() == p.To })
	if i < 0 {
		return errors.New("the address is not in this worker's webhook.url: give all workers the same settings")
	}
	err := s.webhooks[i].Deliver(ctx, p.ID, p.Body, s.now())
	var refused *notify.RefusedError
	if errors.As(err, &refused) && refused.Status == http.StatusGone {
		return givenUpError{err}
	}
	return err
}

// sendMail mails the digest of a batch, as stored at the time of sending.
func (s sender) sendMail(ctx context.Context, task *asynq.Task) error {
	var p digestPayload
	if err := decodeTask(task, &p); err != nil {
		return err
	}
	if s.mail == nil {
		return errors.New("this worker has no mail.server setting: give all workers the same settings")
	}
	d, err := ReadDigest(ctx, s.store, p.Batch)
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

// runEnded is the data of the event run.ended.
type runEnded struct {
	RunID     string              `json:"run_id"`
	Batch     string              `json:"batch"`
	Topic     string              `json:"topic"`
	State     topicqueue.RunState `json:"state"`
	Reason    string              `json:"reason,omitempty"`
	Report    string              `json:"report,omitempty"` // location: a path or s3://bucket/key
	CreatedAt time.Time           `json:"created_at"`
	EndedAt   time.Time           `json:"ended_at"`
}

// tellEnd announces that a run has ended and its files are in storage. It comes before the last commit: if that is
// interrupted, the same event is sent again.
func (h publishHandler) tellEnd(ctx context.Context, a *attempt) error {
	e := runEnded{
		RunID: a.Run.ID, Batch: a.Run.Batch, Topic: topicqueue.Clip(a.Run.Topic, maxTold), State: a.Run.State,
		Reason:    topicqueue.Clip(a.Run.Reason, maxTold),
		CreatedAt: a.Run.CreatedAt, EndedAt: a.Run.EndedAt,
	}
	if a.Run.Report != "" {
		e.Report = h.bundles.Store.Location(a.Run.Report)
	}
	return h.dispatcher.Notify(ctx, notify.Event{Type: notify.RunEnded, Subject: fmt.Sprintf("%s/%d", a.Run.ID, a.Epoch),
		Time: a.Run.EndedAt, Data: e})
}

// budgetReached is the data of the event budget.reached.
type budgetReached struct {
	Budget string            `json:"budget"`          // run, batch or night
	Limit  topicqueue.Budget `json:"limit"`           // in USD or in tokens
	Night  string            `json:"night,omitempty"` // the date on which it began
	Batch  string            `json:"batch"`
	RunID  string            `json:"run_id"` // the first run that is cut because of it
	Topic  string            `json:"topic"`
	// first cut of this run: see topicqueue.CutReview
	Cut string `json:"cut"`
}

// tell announces that a run does less because of a budget. It is sent once for everything that this budget cuts, for
// any number of runs.
func (b *budget) tell(ctx context.Context, what string) error {
	a := b.a
	o := a.Run.Options
	e := budgetReached{RunID: a.Run.ID, Batch: a.Run.Batch, Topic: topicqueue.Clip(a.Run.Topic, maxTold), Cut: what}
	var subject string
	switch e.Budget = b.boundBy(); e.Budget {
	case boundByNight:
		e.Limit, e.Night = o.NightBudget, redisqueue.Night(nightOf(a.Run, b.now()))
		subject = fmt.Sprintf("night/%s/%s", e.Night, e.Limit)
	case boundByBatch:
		e.Limit = o.BatchBudget
		subject = fmt.Sprintf("batch/%s/%s", a.Run.Batch, e.Limit)
	default:
		e.Limit = o.Budget
		subject = fmt.Sprintf("%s/%d", a.Run.ID, a.Epoch)
	}
	return a.dispatcher.Notify(ctx, notify.Event{Type: notify.BudgetReached, Subject: subject, Time: b.now(), Data: e})
}

// maxTold is the maximum length of a text in an event, in bytes.
const maxTold = 2000

// batchEnded is the data of the event batch.ended.
type batchEnded struct {
	Batch   string                      `json:"batch"`
	Runs    int                         `json:"runs"`
	States  map[topicqueue.RunState]int `json:"states"`
	Outcome string                      `json:"outcome"` // in one line
	First   []string                    `json:"first"`   // items that need attention, one per line
	CostUSD float64                     `json:"cost_usd"`
	Digest  string                      `json:"digest"` // location of its page
}

// tellBatchEnd announces a digest that is in storage.
func (h digestHandler) tellBatchEnd(ctx context.Context, p digestPayload, d digest.Digest) error {
	e := batchEnded{
		Batch: d.Batch, Runs: d.Runs, States: d.States, Outcome: d.Outcome(), First: []string{}, CostUSD: d.Usage.CostUSD,
		Digest: h.store.Location(storage.DigestKey(d.Batch, "html")),
	}
	for _, item := range d.First {
		e.First = append(e.First, item.Line())
	}
	err := h.dispatcher.Notify(ctx,
		notify.Event{Type: notify.BatchEnded, Subject: fmt.Sprintf("%s/%d/%d", p.Batch, d.CreatedAt.UnixMilli(),
			p.Generation), Time: h.now(), Data: e})
	return errors.Join(err, h.dispatcher.mailDigest(ctx, p.Batch, p.Generation))
}
