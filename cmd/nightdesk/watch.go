package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/doctor"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/web"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/jobs"
	"nightdesk/jobs/bundle"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/retry"
)

func watchCommand(p *program) *cobra.Command {
	var batch string
	var from int64
	cmd := &cobra.Command{
		Use:   "watch [RUN|BATCH]",
		Short: "Watch a run or a batch until it has ended",
		Long: `Watch a run or a batch until it ends; by default the newest batch. A terminal shows live bars; other
outputs get plain lines. --json prints the runs' messages, one per line; --from continues after the
message with this number.

Exit codes: 0 completed, 1 failed, cancelled or stopped with Ctrl-C, 2 wrong use, 3 partial result.`,
		Args: cobra.MaximumNArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			if len(args) > 0 && batch != "" {
				return view.Usage(errors.New("give a run or --batch, not both"))
			}
			if from < 0 {
				return view.Usage(fmt.Errorf("--from %d: messages are numbered from 1; 0 means all", from))
			}
			name := slices.Concat(args, []string{""})[0]
			return s.withRuns(ctx, func(store storage.Store, d *wiring.Desk) error {
				return watchName(ctx, s, store, d, name, batch, from)
			})
		}),
	}
	cmd.Flags().StringVar(&batch, "batch", "", "watch all runs of this batch")
	cmd.Flags().Int64Var(&from, "from", 0, "continue after the message with this number (one run)")
	p.settingFlag(cmd, false, "return-intermediate-results", "watch.return_intermediate_results",
		"false: --json prints only results, questions and the end of each run (default true)")
	return cmd
}

// watchName watches a run or a batch. d is nil if there is no queue.
func watchName(ctx context.Context, s *session, store storage.Store, d *wiring.Desk, name, batch string,
	from int64) (err error) {
	w := &watcher{con: s.Console, store: store, messages: jsonViewer{s.Console, !s.cfg.Watch.ReturnIntermediateResults}}
	if d != nil {
		w.queue, w.servers = d.Queue, modelServers{redis: d.Redis}
		w.troubles.look = func(ctx context.Context) []web.Trouble { return doctor.Troubles(ctx, d, store) }
	}
	if name, err = fullID(ctx, s.cfg, d, name); err != nil {
		return err
	}
	if name != "" && w.queue != nil {
		run, err := d.Queue.Run(ctx, name)
		if err == nil {
			return w.run(ctx, run, from)
		}
		if !errors.Is(err, redisqueue.ErrNotFound) {
			return err
		}
	}
	if isRunID(name) {
		run, events, ok := w.archive(ctx, name)
		if !ok {
			return noSuch(name)
		}
		return w.replay(ctx, run, after(events, from))
	}
	if from > 0 {
		return view.Usage(errors.New("--from is for one run, because each run numbers its messages separately"))
	}
	return w.anyBatch(ctx, name, batch)
}

// anyBatch watches the batch called batch or name, or the newest batch without both. name may be meant as a run.
func (w *watcher) anyBatch(ctx context.Context, name, batch string) error {
	var from runLister = w.queue
	watch := w.batch
	if w.queue == nil {
		stored, err := storedRunsOf(ctx, w.con, w.store)
		if err != nil {
			return err
		}
		from, watch = stored, func(ctx context.Context, name string) error { return w.storedBatch(ctx, stored, name) }
	}
	batches, err := from.Batches(ctx)
	if err != nil {
		return err
	}
	batch = cmp.Or(batch, name)
	if batch == "" && len(batches) > 0 {
		batch = batches[len(batches)-1].Name
	}
	switch {
	case slices.ContainsFunc(batches, func(b redisqueue.Batch) bool { return b.Name == batch }):
		return watch(ctx, batch)
	case batch == "":
		return view.Usage(view.Hint(errors.New("there is nothing to watch"),
			"Put topics into the queue with `nightdesk enqueue`."))
	case name != "":
		return noSuch(name)
	}
	return noBatch(batch, batches)
}

// storedBatch shows a batch whose runs are all in storage and therefore have ended.
func (w *watcher) storedBatch(ctx context.Context, stored storedRuns, name string) error {
	b := w.newBatchWatch(name)
	err := stored.Runs(ctx, name, func(run topicqueue.Run) error {
		b.view.Runs++
		b.final[run.State]++
		b.ended = append(b.ended, run)
		if !w.con.JSON {
			return nil
		}
		run, events, _ := w.archive(ctx, run.ID)
		return b.printMessages(ctx, run, events)
	})
	if err != nil {
		return err
	}
	if !w.con.JSON {
		b.screen = view.NewScreen(w.con.Out)
	}
	b.view.States = b.final
	if err := b.print(); err != nil {
		return err
	}
	if b.screen != nil {
		b.screen.Draw(nil, nil)
	}
	return b.summary()
}

// watcher holds what watching needs.
type watcher struct {
	con      *view.Console
	queue    *redisqueue.Queue // nil: no queue, show the runs in storage
	store    storage.Store
	messages jsonViewer // printer for --json
	servers  modelServers
	troubles watchedTroubles
}

// run watches one run.
func (w *watcher) run(ctx context.Context, run topicqueue.Run, from int64) error {
	v, end := w.viewer(run)
	ended, err := follow(ctx, w.queue, run.ID, from, nil, healer{v, w})
	if err == nil {
		ended, err = w.stored(ctx, ended, v)
	}
	end()
	if ctx.Err() != nil {
		return fmt.Errorf("stopped watching; run %s continues", run.ID)
	}
	if err != nil {
		return err
	}
	return w.summary(ended)
}

// stored waits until the files of a run that has ended are in storage, or cannot be stored.
func (w *watcher) stored(ctx context.Context, run topicqueue.Run, v viewer) (topicqueue.Run, error) {
	o := outage{noter: v, since: time.Now()}
	for run.PublishedAt.IsZero() && run.Unpublished == "" && ctx.Err() == nil {
		_ = retry.Sleep(ctx, newsPause)
		now, err := w.queue.Run(ctx, run.ID)
		if errors.Is(err, redisqueue.ErrNotFound) {
			return run, nil
		}
		if err != nil {
			_ = o.on(ctx, err) // patience is unlimited
			continue
		}
		o.off()
		if run = now; run.EndedAt.IsZero() {
			return run, fmt.Errorf("run %s is still running: it is being retried", run.ID)
		}
	}
	return run, context.Cause(ctx)
}

// viewer returns the viewer for one run, and a function that removes its live lines.
func (w *watcher) viewer(run topicqueue.Run) (viewer, func()) {
	if w.con.JSON {
		return w.messages, func() {}
	}
	s := view.NewRunScreen(w.con.Out, run, true)
	if s.Screen == nil {
		_ = view.PrintLines(w.con.Out,
			[]string{fmt.Sprintf("%s  %s%s", run.ID, view.State(run), view.TimeUsed(run, time.Now())), run.Topic})
	}
	return s, s.End
}

// replay shows a run whose state has expired from the queue.
func (w *watcher) replay(ctx context.Context, run topicqueue.Run, events []topicqueue.Event) error {
	v, end := w.viewer(run)
	err := v.Show(ctx, run, events)
	end()
	if err != nil {
		return err
	}
	return w.summary(run)
}

// summary prints the result of a run.
func (w *watcher) summary(run topicqueue.Run) error {
	if !w.con.JSON {
		lines := []string{run.ID + "  " + view.State(run) + view.TimeUsed(run, run.EndedAt)}
		if run.Unpublished != "" {
			lines = append(lines, "its report is kept in the queue until it can be stored: "+run.Unpublished)
		}
		if report := location(w.store, run); report != "" {
			lines = append(lines, report)
		}
		if err := view.PrintLines(w.con.Out, lines); err != nil {
			return err
		}
	}
	return outcome(run)
}

// outcome returns the error, with its exit code, for a run that has ended.
func outcome(run topicqueue.Run) error {
	switch run.State {
	case topicqueue.RunCompleted:
		return nil
	case topicqueue.RunPartial:
		return view.Ended(fmt.Errorf("run %s is partial: %s", run.ID, run.Reason), view.ExitPartial)
	}
	return view.Ended(fmt.Errorf("run %s is %s: %s", run.ID, run.State, run.Reason), view.ExitFailed)
}

// archive returns a run and its events from storage. They are complete if there is a manifest.
func (w *watcher) archive(ctx context.Context, runID string) (run topicqueue.Run, events []topicqueue.Event, ok bool) {
	run, err := bundle.Archive{Store: w.store}.Run(ctx, runID)
	if err != nil {
		return run, nil, false
	}
	data, err := w.store.Get(ctx, storage.CacheKey(runID, "events.jsonl"))
	if err != nil {
		return run, nil, false
	}
	for line := range bytes.Lines(data) {
		var e topicqueue.Event
		if json.Unmarshal(line, &e) != nil {
			return run, nil, false
		}
		events = append(events, e)
	}
	return run, events, len(events) > 0
}

// after returns the events with a number greater than seq.
func after(events []topicqueue.Event, seq int64) []topicqueue.Event {
	i := slices.IndexFunc(events, func(e topicqueue.Event) bool { return e.Seq > seq })
	if i < 0 {
		return nil
	}
	return events[i:]
}

// healer fills gaps in the stream of an ended run from storage.
type healer struct {
	viewer
	w *watcher
}

func (h healer) Show(ctx context.Context, run topicqueue.Run, events []topicqueue.Event) error {
	if err := h.viewer.Show(ctx, run, h.w.heal(ctx, run, events)); err != nil {
		return err
	}
	h.w.servers.look(ctx, h.viewer)
	if !run.State.Final() && jobs.SharedLane(run.Lane) {
		h.w.troubles.tell(ctx, h.viewer)
	}
	return nil
}

func (w *watcher) heal(ctx context.Context, run topicqueue.Run, events []topicqueue.Event) []topicqueue.Event {
	if len(events) != 1 || events[0].Status != topicqueue.StatusGap || run.EndedAt.IsZero() {
		return events
	}
	var gap topicqueue.Gap
	_, kept, ok := w.archive(ctx, run.ID)
	if !ok || json.Unmarshal(events[0].Content, &gap) != nil || gap.To < gap.From {
		return events
	}
	kept = slices.DeleteFunc(kept, func(e topicqueue.Event) bool { return e.Seq < gap.From || e.Seq > gap.To })
	if int64(len(kept)) != gap.To-gap.From+1 {
		return events
	}
	return kept
}

// jsonViewer prints messages unchanged.
type jsonViewer struct {
	con     *view.Console
	results bool // only results, see topicqueue.Event.Result
}

func (v jsonViewer) Show(_ context.Context, _ topicqueue.Run, events []topicqueue.Event) error {
	for _, e := range events {
		if v.results && !e.Result() {
			continue
		}
		if err := v.con.PrintJSON(e, true); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	}
	return nil
}

// Along implements viewer.
func (v jsonViewer) Along() bool { return !v.results }

func (v jsonViewer) Note(format string, args ...any) { v.con.Say(format, args...) }
