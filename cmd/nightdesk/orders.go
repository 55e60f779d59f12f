package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/rs/zerolog"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/web"
	"nightdesk/cmd/nightdesk/web/api"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
)

// apiOrders enqueues orders from the API, as the command enqueue does with a JSON Lines file.
type apiOrders struct {
	cfg  config.Config
	desk *wiring.Desk
	log  zerolog.Logger
}

// enqueue implements api.Services.Enqueue.
func (o apiOrders) enqueue(ctx context.Context, order api.Order) (done api.Enqueued, err error) {
	var lines, out, notes bytes.Buffer
	con := &view.Console{Out: &out, Err: &notes, JSON: true, Log: o.log}
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
	request := intake.Request{File: "the order", Batch: order.Batch, Priority: "normal", Format: "jsonl",
		Foreign: true}
	if request.KB, _, err = newBases(o.cfg, con).find(ctx, o.cfg.KBName); err != nil {
		return done, err
	}
	list, err := intake.Read(ctx, o.cfg, con, &lines, request)
	if err != nil {
		return done, refused(err)
	}
	defer func() { err = errors.Join(err, list.Close()) }()
	if list.Problems.Count > 0 {
		return done, &api.Problem{Type: "about:blank", Title: http.StatusText(http.StatusUnprocessableEntity),
			Status: http.StatusUnprocessableEntity, Do: "Correct them. Nothing was enqueued.",
			Detail: fmt.Sprintf("%d of the topics cannot be enqueued; a line is a topic, counted from 1", list.Problems.Count),
			Errors: strings.Split(list.Problems.Text(), "\n  ")}
	}
	if list.Apart != nil && !wiring.IsNoQueue(list.Apart) { // this process has the only queue
		return done, list.Apart
	}
	plan, err := intake.NewPlan(con, list, intake.Keep)
	if err != nil {
		return done, err
	}
	if err := submitTo(ctx, o.cfg, con, o.desk, list, plan, nil, order.Batch); err != nil {
		return done, refused(err)
	}
	return enqueued(&out, &notes)
}

// draft implements web.Services.Draft: it acts like the command enqueue with a file, with or without --dry-run.
func (o apiOrders) draft(ctx context.Context, d web.Draft, enqueue bool) (done web.Drafted, err error) {
	var out, notes bytes.Buffer
	con := &view.Console{Out: &out, Err: &notes, JSON: enqueue, Log: o.log}
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
	request := intake.Request{File: "the list", Batch: d.Batch, Priority: "normal", Format: d.Format, Foreign: true}
	if request.KB, _, err = newBases(cfg, con).find(ctx, cfg.KBName); err != nil {
		return done, refused(err)
	}
	list, err := intake.Read(ctx, cfg, con, strings.NewReader(d.List), request)
	if err != nil {
		return done, refused(err)
	}
	defer func() { err = errors.Join(err, list.Close()) }()
	if list.Problems.Count > 0 {
		done.Problems = strings.Split(list.Problems.Text(), "\n  ")
		return done, nil
	}
	if len(list.Lines) == 0 {
		return done, refused(view.Usage(view.Hint(errors.New("there is no topic in the list"), "Write one a line.")))
	}
	plan, err := intake.NewPlan(con, list, intake.Keep)
	if err != nil {
		return done, refused(err)
	}
	if !enqueue {
		if err := showEstimate(ctx, cfg, con, list, plan, d.Batch); err != nil {
			return done, refused(err)
		}
		said := strings.ReplaceAll(notes.String(), "nightdesk: "+saidDryRun+"\n", "") + out.String()
		done.Said, done.Topics = strings.ReplaceAll("\n"+said, "\nnightdesk: ", "\n")[1:], plan.Topics-plan.Known
		return done, nil
	}
	if list.Apart != nil && !wiring.IsNoQueue(list.Apart) {
		return done, list.Apart
	}
	if err := submitTo(ctx, cfg, con, o.desk, list, plan, nil, d.Batch); err != nil {
		return done, refused(err)
	}
	made, err := enqueued(&out, &notes)
	done.Topics, done.Known, done.Said = made.Created, made.Known, strings.Join(made.Notes, "\n")
	return done, err
}

// enqueued parses the output of submitTo.
func enqueued(out, notes *bytes.Buffer) (done api.Enqueued, err error) {
	for dec := json.NewDecoder(out); dec.More(); {
		var line runLine
		if err := dec.Decode(&line); err != nil {
			return done, err
		}
		run := api.EnqueuedRun{RunID: line.RunID, Topic: line.Topic, ID: line.Ref,
			Created: line.Created != nil && *line.Created}
		done.Batch = line.Batch
		done.Runs = append(done.Runs, run)
		if run.Created {
			done.Created++
		} else {
			done.Known++
		}
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
	return &api.Problem{Type: "about:blank", Title: http.StatusText(http.StatusUnprocessableEntity),
		Status: http.StatusUnprocessableEntity, Detail: err.Error(),
		Do: cmp.Or(view.HintOf(err), "Correct the order. Nothing was enqueued.")}
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
