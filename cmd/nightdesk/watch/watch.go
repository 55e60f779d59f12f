// Package watch shows runs and batches of the queue until they have ended. It waits out an outage of Redis.
//
// Entry points: [Name] for a command, [Follow] for a run of this process.
package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
)

// Name watches the run or batch called name, or without a name the newest batch, until it has ended. from
// is the number of the last message of a run that is known. The error has an exit code if not everything is completed.
func Name(ctx context.Context, d *desk.Desk, name string, from int64) (err error) {
	w := &watcher{con: d.Console, desk: d,
		messages: jsonViewer{d.Console, !d.Config.Watch.ReturnIntermediateResults}}
	if d.HasQueue() {
		w.troubles.look = d.Checks().Stopping
	}
	if name == "" {
		if name, err = w.newest(ctx); err != nil {
			return err
		}
	}
	found, isBatch, err := d.RunOrBatch(ctx, name)
	switch {
	case err != nil:
		return err
	case isBatch && from > 0:
		return view.Usage(errors.New("--from is for one run, because each run numbers its messages separately"))
	case isBatch:
		return w.batch(ctx, name)
	case found.Queued:
		return w.run(ctx, found.Run, from)
	}
	events, err := d.Events(ctx, found.ID, from)
	if err != nil {
		return err
	}
	return w.replay(ctx, found.Run, events)
}

// newest returns the name of the newest batch.
func (w *watcher) newest(ctx context.Context) (string, error) {
	runs, err := w.desk.Runs(ctx)
	if err != nil {
		return "", err
	}
	batches, err := runs.Batches(ctx)
	if err != nil {
		return "", err
	}
	if len(batches) == 0 {
		return "", view.Usage(view.Hint(errors.New("there is nothing to watch"),
			"Put topics into the queue with `nightdesk enqueue`."))
	}
	return batches[len(batches)-1].Name, nil
}

// watcher holds what watching needs.
type watcher struct {
	con      *view.Console
	desk     *desk.Desk
	messages jsonViewer // printer for --json
	troubles watchedTroubles
}

// run watches one run.
func (w *watcher) run(ctx context.Context, run topicqueue.Run, from int64) error {
	v, end := w.viewer(run)
	ended, err := Follow(ctx, w.desk, run.ID, from, nil, lookout{v, w})
	end()
	if ctx.Err() != nil {
		return fmt.Errorf("stopped watching; run %s continues", run.ID)
	}
	if err != nil {
		return err
	}
	return w.summary(ended)
}

// viewer returns the viewer for one run, and a function that removes its live lines.
func (w *watcher) viewer(run topicqueue.Run) (Viewer, func()) {
	if w.con.JSON {
		return w.messages, func() {}
	}
	s := view.NewRunScreen(w.con.Out, run, true)
	_ = view.PrintLines(w.con.Out,
		[]string{fmt.Sprintf("%s  %s%s", run.ID, view.State(run), view.TimeUsed(run, time.Now())), run.Topic})
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
		if report := w.desk.Location(run); report != "" {
			lines = append(lines, report)
		}
		if err := view.PrintLines(w.con.Out, lines); err != nil {
			return err
		}
	}
	return Outcome(run)
}

// Outcome returns the error, with its exit code, for a run that has ended.
func Outcome(run topicqueue.Run) error {
	switch run.State {
	case topicqueue.RunCompleted:
		return nil
	case topicqueue.RunPartial:
		return view.Ended(fmt.Errorf("run %s is partial: %s", run.ID, run.Reason), view.ExitPartial)
	}
	return view.Ended(fmt.Errorf("run %s is %s: %s", run.ID, run.State, run.Reason), view.ExitFailed)
}

// lookout shows what keeps the queue from working, beside a run.
type lookout struct {
	Viewer
	w *watcher
}

func (l lookout) Show(ctx context.Context, run topicqueue.Run, events []topicqueue.Event) error {
	if err := l.Viewer.Show(ctx, run, events); err != nil {
		return err
	}
	if !run.State.Final() && tasks.SharedLane(run.Lane) {
		l.w.troubles.tell(ctx, l.Viewer)
	}
	return nil
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

// Along implements Viewer.
func (v jsonViewer) Along() bool { return !v.results }

func (v jsonViewer) Note(format string, args ...any) { v.con.Say(format, args...) }
