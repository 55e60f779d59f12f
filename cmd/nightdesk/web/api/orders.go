package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"

	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Order is a request to add topics to a batch. Its options apply to topics without options of their own.
type Order struct {
	Batch  string       `json:"batch,omitempty" jsonschema:"name of the batch; absent: a new one"`
	Topics []OrderTopic `json:"topics"`
	OrderOptions
}

// OrderTopic is a topic with its own ID, tags and options.
type OrderTopic struct {
	Topic string   `json:"topic" jsonschema:"what is to be researched"`
	ID    string   `json:"id,omitempty" jsonschema:"of the topic elsewhere; the same id in the same batch is the same run"`
	Tags  []string `json:"tags,omitempty"`
	OrderOptions
}

// OrderOptions are research options, with the same names as the columns of a list (nightdesk help lists).
type OrderOptions struct {
	Preset        string `json:"preset,omitempty" jsonschema:"such as quick or deep: nightdesk help settings lists them"`
	KB            string `json:"kb,omitempty" jsonschema:"name of a knowledge base"`
	Language      string `json:"language,omitempty" jsonschema:"language of the report: en, zh or another language tag"`
	Priority      string `json:"priority,omitempty" jsonschema:"high, normal or low"`
	Strategy      string `json:"strategy,omitempty" jsonschema:"exploratory, balanced or focused"`
	Sources       string `json:"sources,omitempty" jsonschema:"kinds of sources: kb, web, papers, code, own, with commas"`
	Duration      string `json:"duration,omitempty" jsonschema:"maximum duration, such as 30m"`
	Budget        string `json:"budget,omitempty" jsonschema:"budget for models: US dollars such as 2.50, or 2M tokens"`
	Deadline      string `json:"deadline,omitempty" jsonschema:"07:00, 2026-03-01 07:00 or RFC 3339"`
	CitationStyle string `json:"citation_style,omitempty" jsonschema:"anchors or numbered"`
	UserInfo      string `json:"user_info,omitempty" jsonschema:"who asks and for what"`
	// clients may not name files of the server
	ReportTemplate string `json:"report_template,omitempty" jsonschema:"name of a template: nightdesk styles lists them"`
	Length         string `json:"length,omitempty" jsonschema:"length of the report, in your own words"`
	Audience       string `json:"audience,omitempty" jsonschema:"readers of the report, in your own words"`
	Audio          string `json:"audio,omitempty" jsonschema:"how it is read aloud: nightdesk help audio lists the forms"`
}

// Enqueued is the result of an order.
type Enqueued struct {
	Batch   string        `json:"batch"`
	Created int           `json:"created" jsonschema:"runs that are new"`
	Known   int           `json:"known" jsonschema:"topics that the batch had already"`
	Runs    []EnqueuedRun `json:"runs"`
	Notes   []string      `json:"notes,omitempty" jsonschema:"what a person should know, such as near duplicates"`
}

// EnqueuedRun is the run of one topic.
type EnqueuedRun struct {
	RunID   string `json:"run_id"`
	Topic   string `json:"topic"`
	ID      string `json:"id,omitempty"`
	Created bool   `json:"created"`
}

// enqueue adds topics to a batch. An idempotency key determines the batch name, so that a repeated order returns the
// same runs.
func (a orders) enqueue(c *call) (any, error) {
	order := c.body.(*Order)
	if len(order.Topics) == 0 {
		return nil, problem(http.StatusUnprocessableEntity, "Give at least one.", "there are no topics")
	}
	if key := c.Header.Get(idempotencyKey); key != "" {
		if order.Batch != "" {
			return nil, problem(http.StatusUnprocessableEntity,
				"Leave out the key: the same topics in the same batch are the same runs.", "%s and batch are given both",
				idempotencyKey)
		}
		sum := sha256.Sum256([]byte(key))
		order.Batch = "api_" + hex.EncodeToString(sum[:10])
		if err := a.sameOrder(c.Context(), order); err != nil {
			return nil, err
		}
	}
	done, err := a.put(c.Context(), *order)
	if err != nil {
		return nil, err
	}
	done.Runs = list(done.Runs)
	return done, nil
}

// sameOrder rejects a key that was used for other topics.
func (a orders) sameOrder(ctx context.Context, order *Order) error {
	b, err := a.queue.Batch(ctx, order.Batch)
	if errors.Is(err, redisqueue.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	there, err := a.queue.BatchRuns(ctx, b.Name)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, t := range order.Topics {
		run := tasks.NewRun(b, t.Topic, topicqueue.Options{}, "", topicqueue.Labels{Ref: t.ID}, b.CreatedAt)
		wanted[run.ID] = true
	}
	for _, id := range there {
		if !wanted[id] {
			return problem(http.StatusConflict, "Use another key for another order.", "this key was used for other topics")
		}
	}
	return nil
}

// CancelOptions are the options for cancelling a run.
type CancelOptions struct {
	Report bool   `json:"report,omitempty" jsonschema:"write a report from the findings; the run ends as partial"`
	Reason string `json:"reason,omitempty" jsonschema:"the reason that the run shows"`
}

// RetryOptions select what to retry.
type RetryOptions struct {
	What retryWhat `json:"what,omitempty" jsonschema:"blocks (default): failed blocks; report; all: everything"`
}

// retryWhat is one of the values in retryWhats.
type retryWhat string

var retryWhats = []any{redisqueue.RetryBlocks, redisqueue.RetryReport, redisqueue.RetryAll}

// Reply is the answer to a run's open question.
type Reply struct {
	Text string `json:"text" jsonschema:"empty: the run continues without an answer"`
}

// Nothing is an empty body.
type Nothing struct{}

// control is an operation on a run.
type control func(ctl tasks.Controls, ctx context.Context, run topicqueue.Run) error

// change applies an operation to a queued run and returns the changed run. For a batch path, it applies the operation
// to all runs of the batch.
func (a orders) change(c *call, do control) (any, error) {
	if c.PathValue("batch") != "" {
		return a.changeAll(c, do)
	}
	run, _, err := a.find(c.Context(), c.PathValue("run"))
	if err != nil {
		return nil, err
	}
	if err := a.changeOne(c.Context(), run, do); err != nil {
		return nil, err
	}
	return a.readRun(c)
}

// changeOne applies an operation to one run. The error is a *Problem if the run is unchanged.
func (a orders) changeOne(ctx context.Context, run topicqueue.Run, do control) error {
	err := do(tasks.Controls{Queue: a.queue, Dispatcher: a.dispatcher}, ctx, run)
	var why tasks.Refusal
	switch {
	case errors.As(err, &why):
		return problem(http.StatusConflict, "/v1/runs/"+run.ID+" says how the run is.",
			"run %s stays as it is: %s", run.ID, why)
	case errors.Is(err, redisqueue.ErrNotFound):
		return problem(http.StatusConflict, "Enqueue its topic again.",
			"run %s has ended, and its state has expired from the queue", run.ID)
	case errors.Is(err, redisqueue.ErrStale):
		return problem(http.StatusConflict, "/v1/runs/"+run.ID+" says what it waits for.",
			"run %s is no longer waiting for this answer", run.ID)
	}
	return err
}

// BatchChange is the result of an operation on a batch.
type BatchChange struct {
	Batch   string   `json:"batch"`
	Runs    int      `json:"runs" jsonschema:"of the batch"`
	Changed []string `json:"changed" jsonschema:"ids of the runs that were changed; the others stay as they are"`
}

// changeAll applies an operation to all runs of a batch and skips the runs that refuse it.
func (a orders) changeAll(c *call, do control) (any, error) {
	b, err := a.batch(c.Context(), c.PathValue("batch"))
	if err != nil {
		return nil, err
	}
	out := BatchChange{Batch: b.Name, Changed: []string{}}
	err = a.queue.Runs(c.Context(), b.Name, func(run topicqueue.Run) error {
		out.Runs++
		err := a.changeOne(c.Context(), run, do)
		if errors.As(err, new(*Problem)) {
			return nil
		}
		if err == nil {
			out.Changed = append(out.Changed, run.ID)
		}
		return err
	})
	if errors.As(err, new(*redisqueue.BrokenError)) { // the other runs were changed
		a.log.Warn().Err(err).Str("batch", b.Name).Msg("runs of a batch cannot be read")
		err = nil
	}
	return out, err
}

func (a orders) cancel(c *call) (any, error) {
	o := c.body.(*CancelOptions)
	if o.Reason == "" {
		o.Reason = "cancelled by a program"
	}
	return a.change(c, func(ctl tasks.Controls, ctx context.Context, run topicqueue.Run) error {
		return ctl.Cancel(ctx, run, topicqueue.Clip(topicqueue.OneLine(o.Reason), longestText), o.Report)
	})
}

func (a orders) pause(c *call) (any, error) { return a.change(c, tasks.Controls.Pause) }

func (a orders) resume(c *call) (any, error) { return a.change(c, tasks.Controls.Resume) }

func (a orders) retry(c *call) (any, error) {
	what := cmp.Or(string(c.body.(*RetryOptions).What), redisqueue.RetryBlocks)
	return a.change(c, func(ctl tasks.Controls, ctx context.Context, run topicqueue.Run) error {
		err := ctl.Retry(ctx, run, what)
		if errors.Is(err, tasks.ErrNothingFailed) {
			return problem(http.StatusConflict, "Use report to rewrite the report, or all to start over.",
				"run %s stays as it is: %v", run.ID, err)
		}
		return err
	})
}

func (a orders) answer(c *call) (any, error) {
	reply, err := topicqueue.NewReply(c.body.(*Reply).Text)
	if err != nil {
		return nil, problem(http.StatusUnprocessableEntity, "Shorten it.", "%v", err)
	}
	return a.change(c, func(ctl tasks.Controls, ctx context.Context, run topicqueue.Run) error {
		number, _ := run.Waiting()
		if number == 0 {
			return tasks.Refusal("it is not waiting for an answer; it is " + string(run.State))
		}
		return ctl.Answer(ctx, run, number, reply)
	})
}
