package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"nightdesk/cmd/nightdesk/estimate"
	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/web"
	"nightdesk/cmd/nightdesk/web/api"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/topicqueue"
)

// apiOrders enqueues orders from the API and lists from the pages, as the command enqueue does with a file.
type apiOrders struct {
	*session
	desk *wiring.Desk
}

// enqueue implements api.Services.Enqueue.
func (o apiOrders) enqueue(ctx context.Context, order api.Order) (done api.Enqueued, err error) {
	var lines, notes bytes.Buffer
	s := o.saying(&notes, o.cfg)
	enc := json.NewEncoder(&lines)
	for _, t := range order.Topics {
		t.OrderOptions = withDefaults(t.OrderOptions, order.OrderOptions)
		if err := enc.Encode(t); err != nil {
			return done, err
		}
	}
	if order.Batch != "" {
		if err := checkBatchName(order.Batch); err != nil {
			return done, refused(err)
		}
	}
	request := intake.Request{File: "the order", Batch: order.Batch, Format: "jsonl"}
	if request.KB, _, err = newBases(s).Find(ctx, s.cfg.KBName); err != nil {
		return done, err
	}
	list, plan, err := readForeign(ctx, s, &lines, request)
	if err != nil {
		return done, refused(err)
	}
	defer func() { err = errors.Join(err, list.Close()) }()
	if list.Problems.Count > 0 {
		p := api.Refused(http.StatusUnprocessableEntity, fmt.Sprintf("%d of the topics cannot be enqueued; "+
			"a line is a topic, counted from 1", list.Problems.Count), "Correct them. Nothing was enqueued.")
		p.Errors = strings.Split(list.Problems.Text(), "\n  ")
		return done, p
	}
	return o.submit(ctx, s, list, plan, order.Batch, &notes)
}

// draft implements web.Services.Draft: it acts like the command enqueue with a file, with or without --dry-run.
func (o apiOrders) draft(ctx context.Context, d web.Draft, enqueue bool) (done web.Drafted, err error) {
	own := map[string]string{}
	for path, value := range map[string]string{"preset": d.Preset, "kb_name": d.KB, "language": d.Language} {
		if value != "" {
			own[path] = value
		}
	}
	cfg, err := o.cfg.With(own)
	if err != nil {
		return done, refused(view.Usage(err))
	}
	if err := checkBatchName(d.Batch); err != nil {
		return done, refused(err)
	}
	var notes bytes.Buffer
	s := o.saying(&notes, cfg)
	request := intake.Request{File: "the list", Batch: d.Batch, Format: d.Format}
	if request.KB, _, err = newBases(s).Find(ctx, cfg.KBName); err != nil {
		return done, refused(err)
	}
	list, plan, err := readForeign(ctx, s, strings.NewReader(d.List), request)
	if err != nil {
		return done, refused(err)
	}
	defer func() { err = errors.Join(err, list.Close()) }()
	switch {
	case list.Problems.Count > 0:
		done.Problems = strings.Split(list.Problems.Text(), "\n  ")
		return done, nil
	case len(list.Lines) == 0:
		return done, refused(view.Usage(view.Hint(errors.New("there is no topic in the list"), "Write one a line.")))
	case enqueue:
		made, err := o.submit(ctx, s, list, plan, d.Batch, &notes)
		done.Topics, done.Known, done.Said = made.Created, made.Known, strings.Join(made.Notes, "\n")
		return done, err
	}
	doc, err := estimate.Of(ctx, s.cfg, s.Console, list, plan, d.Batch)
	if err != nil {
		return done, refused(err)
	}
	doc.Print(&notes)
	done.Said, done.Topics = strings.ReplaceAll("\n"+notes.String(), "\nnightdesk: ", "\n")[1:], doc.Topics
	return done, nil
}

// saying returns a session with these settings whose messages go to notes.
func (o apiOrders) saying(notes *bytes.Buffer, cfg config.Config) *session {
	return &session{&view.Console{Out: notes, Err: notes, Log: o.Log}, cfg, o.load}
}

// readForeign reads, checks and plans a list that comes from a client. The caller must close the list.
func readForeign(ctx context.Context, s *session, in io.Reader, r intake.Request) (*intake.List, *intake.Plan, error) {
	r.Priority, r.Foreign = "normal", true
	list, err := intake.Read(ctx, s.cfg, s.Console, in, r)
	if err != nil || list.Problems.Count > 0 {
		return list, nil, err
	}
	plan, err := intake.NewPlan(s.Console, list, intake.Keep)
	if err != nil {
		return nil, nil, errors.Join(err, list.Close())
	}
	return list, plan, nil
}

// submit enqueues a list. notes are the messages about it so far.
func (o apiOrders) submit(ctx context.Context, s *session, list *intake.List, plan *intake.Plan, batch string,
	notes *bytes.Buffer) (api.Enqueued, error) {
	if list.Apart != nil && !wiring.IsNoQueue(list.Apart) { // this process has the only queue
		return api.Enqueued{}, list.Apart
	}
	var done api.Enqueued
	_, _, err := submit(ctx, s, o.desk, order{list: list, plan: plan, batch: batch,
		queued: func(run topicqueue.Run, _ int, created bool) error {
			done.Batch = run.Batch
			done.Runs = append(done.Runs, api.EnqueuedRun{RunID: run.ID, Topic: run.Topic, ID: run.Ref, Created: created})
			if created {
				done.Created++
			} else {
				done.Known++
			}
			return nil
		}})
	if err != nil {
		return api.Enqueued{}, refused(err)
	}
	for note := range strings.Lines(notes.String()) {
		note = strings.TrimSpace(strings.TrimPrefix(note, "nightdesk: "))
		if note != "" && !strings.HasPrefix(note, "warning: ") { // warnings are for the operator
			done.Notes = append(done.Notes, note)
		}
	}
	return done, nil
}

// refused converts a usage error to a problem response for the client. It returns other errors unchanged.
func refused(err error) error {
	if !view.IsUsage(err) {
		return err
	}
	return api.Refused(http.StatusUnprocessableEntity, err.Error(),
		cmp.Or(view.HintOf(err), "Correct the order. Nothing was enqueued."))
}

// withDefaults returns the options of a topic, with those of its order as defaults.
func withDefaults(t, order api.OrderOptions) api.OrderOptions {
	return api.OrderOptions{
		Preset: cmp.Or(t.Preset, order.Preset), KB: cmp.Or(t.KB, order.KB), Language: cmp.Or(t.Language, order.Language),
		Priority: cmp.Or(t.Priority, order.Priority), Strategy: cmp.Or(t.Strategy, order.Strategy),
		Sources: cmp.Or(t.Sources, order.Sources), Duration: cmp.Or(t.Duration, order.Duration),
		Budget: cmp.Or(t.Budget, order.Budget), Deadline: cmp.Or(t.Deadline, order.Deadline),
		CitationStyle: cmp.Or(t.CitationStyle, order.CitationStyle), UserInfo: cmp.Or(t.UserInfo, order.UserInfo),
		ReportTemplate: cmp.Or(t.ReportTemplate, order.ReportTemplate), Length: cmp.Or(t.Length, order.Length),
		Audience: cmp.Or(t.Audience, order.Audience), Audio: cmp.Or(t.Audio, order.Audio),
	}
}
