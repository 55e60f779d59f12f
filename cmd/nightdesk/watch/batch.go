package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/retry"
)

const (
	batchPause  = 500 * time.Millisecond // between polls of a batch ...
	batchShare  = 10                     // ... or this multiple of the duration of one poll
	countsPause = 10 * time.Second       // between plain lines of counts
)

// batch watches the runs of a batch until all have ended.
func (w *watcher) batch(ctx context.Context, name string) error {
	b := &batchWatch{watcher: w, seqs: map[string]int64{}, ended: map[string]bool{}, view: view.Batch{Name: name},
		late: !w.desk.HasQueue()}
	if !w.con.JSON {
		b.screen = view.NewScreen(w.con.Out)
	}
	err := b.watch(ctx)
	if b.screen != nil {
		b.screen.Draw(nil, nil)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("stopped watching; batch %s continues", name)
	}
	if err != nil {
		return err
	}
	return b.summary()
}

// batchWatch is a batch that is being watched.
type batchWatch struct {
	*watcher
	screen *view.Screen // nil: no terminal, or --json
	view   view.Batch
	ended  map[string]bool  // runs that have ended
	open   int              // number of the others
	seqs   map[string]int64 // last printed message by run
	late   bool             // completed runs are printed; at first only those that end while they are watched
	lines  []string         // to print
	counts string           // counts of the last plain line
	line   time.Time        // time of the last plain line
}

func (b *batchWatch) watch(ctx context.Context) error {
	o := outage{Noter: b, since: time.Now()}
	for {
		started := time.Now()
		err := b.look(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.As(err, new(outputError)) || errors.As(err, new(*redisqueue.BrokenError)) { // waiting does not help
			return err
		}
		if err != nil {
			if err := o.on(ctx, err); err != nil {
				return err
			}
			continue
		}
		o.off()
		if b.open > 0 {
			b.troubles.tell(ctx, b)
		}
		if err := b.print(); err != nil || b.open == 0 {
			return err
		}
		_ = retry.Sleep(ctx, max(batchPause, batchShare*time.Since(started)))
	}
}

// look polls the state of the batch. It can be called again after an error.
func (b *batchWatch) look(ctx context.Context) error {
	runs, err := b.read(ctx)
	if err != nil {
		return err
	}
	b.open = len(runs)
	for _, run := range runs {
		if b.con.JSON && run.State != topicqueue.RunQueued {
			if err := b.messages(ctx, run); err != nil {
				return err
			}
		}
		if !run.State.Final() || run.PublishedAt.IsZero() && run.Unpublished == "" {
			continue
		}
		b.open--
		b.ended[run.ID] = true
		delete(b.seqs, run.ID)
		if b.late || run.State != topicqueue.RunCompleted {
			b.lines = append(b.lines, view.EndedLines(run, b.desk.Location(run))...)
		}
	}
	b.late = true
	return nil
}

// read reads the batch, and returns the runs that had not ended before.
func (b *batchWatch) read(ctx context.Context) (open []topicqueue.Run, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime+time.Duration(b.view.Runs)*time.Millisecond)
	defer cancel()
	runs, err := b.desk.Runs(ctx)
	if err != nil {
		return nil, err
	}
	now := view.Batch{Name: b.view.Name, States: map[topicqueue.RunState]int{}}
	err = runs.RunsFrom(ctx, now.Name, 0, func(_ int, run topicqueue.Run) error {
		now.Add(run)
		if !b.ended[run.ID] {
			open = append(open, run)
		}
		return nil
	})
	if err == nil && b.screen != nil && b.desk.HasQueue() {
		err = b.progress(ctx, now.Worked)
	}
	b.view = now
	return open, err
}

// progress reads how many topic blocks of runs are done.
func (b *batchWatch) progress(ctx context.Context, runs []view.WorkedRun) error {
	ids := make([]string, len(runs))
	for i, run := range runs {
		ids[i] = run.ID
	}
	pulses, err := b.desk.Queue.Pulses(ctx, ids)
	for i, p := range pulses {
		runs[i].Progress = p.Progress
	}
	return err
}

// messages prints the new messages of a run.
func (b *batchWatch) messages(ctx context.Context, run topicqueue.Run) error {
	for {
		events, err := b.desk.Events(ctx, run.ID, b.seqs[run.ID])
		if err != nil || len(events) == 0 {
			return err
		}
		if err := b.watcher.messages.Show(ctx, run, events); err != nil {
			return outputError{err}
		}
		b.seqs[run.ID] = events[len(events)-1].Seq
	}
}

// outputError is an error in writing the output. Retrying does not help, unlike with errors of Redis.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// print shows the batch and the runs that have ended since the last call.
func (b *batchWatch) print() error {
	lines := b.lines
	b.lines = nil
	switch {
	case b.con.JSON:
		return nil
	case b.screen != nil:
		columns, rows := b.screen.Room()
		b.screen.Draw(lines, b.view.Live(time.Now(), columns, rows))
		return nil
	}
	if counts := b.view.Counts(); counts != b.counts && (time.Since(b.line) >= countsPause || b.open == 0) {
		b.counts, b.line = counts, time.Now()
		lines = append(lines, b.view.Head())
	}
	return view.PrintLines(b.con.Out, lines)
}

// Note shows that Redis is unavailable or available again.
func (b *batchWatch) Note(format string, args ...any) {
	if b.screen == nil {
		b.con.Say(format, args...)
		return
	}
	columns, rows := b.screen.Room()
	b.screen.Draw([]string{fmt.Sprintf(format, args...)}, b.view.Live(time.Now(), columns, rows))
}

// summary prints the result of the batch.
func (b *batchWatch) summary() error {
	if b.screen != nil {
		if err := view.PrintLines(b.con.Out, []string{b.view.Head()}); err != nil {
			return err
		}
	}
	completed := b.view.States[topicqueue.RunCompleted]
	err := fmt.Errorf("not every run of batch %s is completed", b.view.Name)
	switch {
	case completed == b.view.Runs:
		return nil
	case completed+b.view.States[topicqueue.RunPartial] > 0:
		return view.Ended(err, view.ExitPartial)
	}
	return view.Ended(err, view.ExitFailed)
}
