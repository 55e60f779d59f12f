package desk

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"nightdesk/cmd/nightdesk/estimate"
	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Order is a request to add topics to a batch. Its options apply to topics without options of their own.
type Order struct {
	Batch  string       `json:"batch,omitempty" jsonschema:"name of the batch; absent: a new one"`
	Topics []OrderTopic `json:"topics"`
	OrderOptions
	Key string `json:"idempotency_key,omitempty" header:"Idempotency-Key" valid:"key" jsonschema:"new for each order"`
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
	Batch   string       `json:"batch"`
	Created int          `json:"created" jsonschema:"runs that are new"`
	Known   int          `json:"known" jsonschema:"topics that the batch had already"`
	Runs    []RunSummary `json:"runs"`
	Notes   []string     `json:"notes,omitempty" jsonschema:"what a person should know, such as near duplicates"`
}

// Enqueue adds topics to a batch, as the command enqueue does with a list. An idempotency key determines the name of
// the batch, so that a repeated order returns the same runs.
func (d *Desk) Enqueue(ctx context.Context, o Order) (done Enqueued, err error) {
	if len(o.Topics) == 0 {
		return done, view.Usage(view.Hint(errors.New("there are no topics"), "Give at least one."))
	}
	switch {
	case o.Key != "" && o.Batch != "":
		return done, view.Usage(view.Hint(errors.New("an idempotency key and a batch are given both"),
			"Leave out the key: the same topics in the same batch are the same runs."))
	case o.Key != "":
		sum := sha256.Sum256([]byte(o.Key))
		o.Batch = "api_" + hex.EncodeToString(sum[:10])
		if err := d.sameOrder(ctx, o); err != nil {
			return done, err
		}
	case o.Batch != "":
		if err := CheckBatchName(o.Batch); err != nil {
			return done, err
		}
	}
	text, err := o.lines()
	if err != nil {
		return done, err
	}
	return d.enqueueForeign(ctx, text, intake.Request{File: "the order", Batch: o.Batch, Format: "jsonl"})
}

// lines returns the topics as a list of JSON lines, each with its own options and those of the order.
func (o Order) lines() (*bytes.Buffer, error) {
	common, err := json.Marshal(o.OrderOptions)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, t := range o.Topics {
		own, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		line := map[string]any{}
		if err := errors.Join(json.Unmarshal(common, &line), json.Unmarshal(own, &line), enc.Encode(line)); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// sameOrder rejects a key that was used for other topics.
func (d *Desk) sameOrder(ctx context.Context, o Order) error {
	b, err := d.Queue.Batch(ctx, o.Batch)
	if errors.Is(err, redisqueue.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	there, err := d.Queue.BatchRuns(ctx, b.Name)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, t := range o.Topics {
		run := tasks.NewRun(b, t.Topic, topicqueue.Options{}, "", topicqueue.Labels{Ref: t.ID}, b.CreatedAt)
		wanted[run.ID] = true
	}
	for _, id := range there {
		if !wanted[id] {
			return view.Refused(errors.New("this key was used for other topics"), "Use another key for another order.")
		}
	}
	return nil
}

// Draft is a list of topics with their common options. Empty options take their values from the settings.
type Draft struct {
	List     string // content as in a file to enqueue
	Format   string // auto, text, csv or jsonl
	Preset   string
	KB       string // name of a knowledge base
	Language string
	Batch    string // target batch; enqueueing the same list again adds nothing to it
}

// open returns a desk with the options of the draft, and the request for its list.
func (d *Desk) open(draft Draft) (*Desk, intake.Request, error) {
	r := intake.Request{File: "the list", Batch: draft.Batch, Format: draft.Format}
	own := map[string]string{}
	for path, value := range map[string]string{"preset": draft.Preset, "kb_name": draft.KB, "language": draft.Language} {
		if value != "" {
			own[path] = value
		}
	}
	cfg, err := d.Config.With(own)
	if err != nil {
		return nil, r, view.Usage(err)
	}
	with := *d
	with.Config = cfg
	return &with, r, CheckBatchName(draft.Batch)
}

// EnqueueDraft enqueues a draft.
func (d *Desk) EnqueueDraft(ctx context.Context, draft Draft) (Enqueued, error) {
	with, r, err := d.open(draft)
	if err != nil {
		return Enqueued{}, err
	}
	return with.enqueueForeign(ctx, strings.NewReader(draft.List), r)
}

// CheckDraft checks a draft. It returns the number of new topics, and what the command enqueue --dry-run prints.
func (d *Desk) CheckDraft(ctx context.Context, draft Draft) (topics int, said string, err error) {
	with, r, err := d.open(draft)
	if err != nil {
		return 0, "", err
	}
	c, err := with.readForeign(ctx, strings.NewReader(draft.List), r)
	if err != nil {
		return 0, "", err
	}
	doc, err := estimate.Of(ctx, with.Config, with.Desk, c.List, draft.Batch)
	if err != nil {
		return 0, "", err
	}
	var text strings.Builder
	for _, note := range c.List.Notes {
		fmt.Fprintln(&text, note)
	}
	doc.Print(&text)
	return doc.Topics, text.String(), nil
}

// readForeign reads and checks a list from a client, which may not name files of this machine.
func (d *Desk) readForeign(ctx context.Context, in io.Reader, r intake.Request) (c Checked, err error) {
	r.Foreign, c.Batch = true, r.Batch
	if c.List, err = d.Read(ctx, in, r); err != nil {
		return c, err
	}
	if err := cmp.Or(c.List.Invalid(), c.List.Empty()); err != nil {
		return c, view.Hint(err, "Correct it. Nothing was enqueued.")
	}
	return c, nil
}

// Read reads and checks a list of topics for a batch of the queue.
func (d *Desk) Read(ctx context.Context, in io.Reader, r intake.Request) (list *intake.List, err error) {
	local := d.Bases()
	if r.KB, _, err = local.Find(ctx, d.Config.KBName); err != nil {
		return nil, err
	}
	if r.Bases, err = local.Names(ctx); err != nil {
		return nil, err
	}
	if d.HasQueue() {
		r.Queue = d.Queue
	}
	return intake.Read(ctx, d.Config, in, r)
}

// enqueueForeign enqueues a list from a client.
func (d *Desk) enqueueForeign(ctx context.Context, in io.Reader, r intake.Request) (done Enqueued, err error) {
	c, err := d.readForeign(ctx, in, r)
	if err != nil {
		return done, err
	}
	runs := []RunSummary{}
	done, err = d.Submit(ctx, c, func(s RunSummary) error {
		runs = append(runs, s)
		return nil
	})
	done.Runs, done.Notes = runs, append(c.List.Notes, done.Notes...)
	return done, err
}

// Presets returns the names of the presets.
func Presets() []string { return config.PresetNames() }
