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

// Kinds of tasks that tell others what has happened.
const (
	KindWebhook = "notify:webhook"
	KindMail    = "notify:mail"
)

// queueNotifying is apart from the stages: a receiver that hangs must not hold up reports. Each webhook has its own
// queue, with its key, and its own slots: neither must it hold up other receivers.
const queueNotifying = "notifying"

func queueOf(webhook string) string { return queueNotifying + "-" + webhook }

// notifySlots is how many notifications one worker sends to a receiver at once.
const notifySlots = 4

// notifyPauses are the pauses between the tries of a notification, in units of Settings.RetryPause: of a second,
// nearly 18 hours in all.
var notifyPauses = []time.Duration{5, 60, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600}

// knownFor is how long a notification that was sent is remembered, so that it is not sent again when what tells of it
// is done again. Its receivers know it by its id for ever.
const knownFor = 48 * time.Hour

type webhookPayload struct {
	ID   string          `json:"id"`
	To   string          `json:"to"` // key of the webhook; empty: of a version that knew one only, for all there are
	Type string          `json:"type"`
	Body json.RawMessage `json:"body"` // as it is signed and sent
}

func (p *webhookPayload) check() error {
	if p.ID == "" {
		return errors.New("an id is needed")
	}
	return nil
}

// Announce says which types of events are wanted by which webhooks, and whether digests are to be mailed. Without it
// nothing is told.
func (d *Dispatcher) Announce(types []string, webhooks []*notify.Webhook, mail bool) {
	d.wanted, d.webhooks, d.mail = types, nil, mail
	for _, w := range webhooks {
		d.webhooks = append(d.webhooks, w.Key())
	}
}

// Notify tells of an event, if anybody wants to know: for each webhook by itself, a worker sends it, and again until
// it is taken. The same event is told once, however often this is called.
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

// mailDigest lets the digest of a batch be mailed, if that is wanted.
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

// sender sends notifications to those who want them.
type sender struct {
	webhooks   []*notify.Webhook
	mail       *notify.Mail // nil: digests are not mailed
	dispatcher *Dispatcher
	store      storage.Store
	now        func() time.Time
	unit       time.Duration // of notifyPauses
}

// pause is how long the next try of a notification waits.
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

// deliver delivers one event. A worker that is killed after the delivery leaves the task to another one, which delivers
// the same id again.
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
		return errors.New("this webhook.url is not in this worker's settings: give all workers the same settings")
	}
	err := s.webhooks[i].Deliver(ctx, p.ID, p.Body, s.now())
	var refused *notify.RefusedError
	if errors.As(err, &refused) && refused.Status == http.StatusGone {
		return givenUpError{err}
	}
	return err
}

// sendMail mails the digest of a batch as it is when it is sent.
func (s sender) sendMail(ctx context.Context, task *asynq.Task) error {
	var p digestPayload
	if err := decodeTask(task, &p); err != nil {
		return err
	}
	if s.mail == nil {
		return errors.New("this worker has no mail.server: give all workers the same settings")
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

// runEnded is what the event run.ended says.
type runEnded struct {
	RunID     string              `json:"run_id"`
	Batch     string              `json:"batch"`
	Topic     string              `json:"topic"`
	State     topicqueue.RunState `json:"state"`
	Reason    string              `json:"reason,omitempty"`
	Report    string              `json:"report,omitempty"` // where it is: a path or s3://bucket/key
	CreatedAt time.Time           `json:"created_at"`
	EndedAt   time.Time           `json:"ended_at"`
}

// tellEnd tells that a run has ended and that what it leaves behind is in storage. It comes before the last commit, so
// that it is told again, as the same event, when that breaks off.
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

// budgetReached is what the event budget.reached says.
type budgetReached struct {
	Budget string            `json:"budget"`          // whose it is: run, batch or night
	Limit  topicqueue.Budget `json:"limit"`           // in USD or in tokens
	Night  string            `json:"night,omitempty"` // the date on which it has begun
	Batch  string            `json:"batch"`
	RunID  string            `json:"run_id"` // the first run that does less for it
	Topic  string            `json:"topic"`
	// what this run does without from now on, the first of it: see topicqueue.CutReview
	Cut string `json:"cut"`
}

// tell tells that a run does less than it could because of a budget: once for all that this budget cuts, of
// however many runs.
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

// maxTold bounds a text in an event, in bytes.
const maxTold = 2000

// batchEnded is what the event batch.ended says.
type batchEnded struct {
	Batch   string                      `json:"batch"`
	Runs    int                         `json:"runs"`
	States  map[topicqueue.RunState]int `json:"states"`
	Outcome string                      `json:"outcome"` // in one line
	First   []string                    `json:"first"`   // what a person must see, a line each
	CostUSD float64                     `json:"cost_usd"`
	Digest  string                      `json:"digest"` // where its page is
}

// tellBatchEnd tells of a digest that is in storage.
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
