package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/desk"
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
	b := &batchWatch{watcher: w, seqs: map[string]int64{}, ended: map[string]bool{}, status: view.NewStatus(w.con.Out),
		past: desk.BatchStatus{States: map[topicqueue.RunState]int{}}, late: !w.desk.HasQueue()}
	b.past.Name, b.now.Name = name, name
	if w.con.JSON {
		b.status = view.NewStatus(io.Discard)
	}
	err := b.watch(ctx)
	b.status.End()
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
	status *view.Status
	now    desk.BatchStatus
	past   desk.BatchStatus // of the first runs of the batch, which have ended and are not read again
	ended  map[string]bool  // runs that have ended
	open   int              // number of the others
	seqs   map[string]int64 // last printed message by run
	late   bool             // completed runs are printed; at first only those that end while they are watched
	lines  []string         // to print
	head   string           // the last plain line about the batch
	line   time.Time        // its time
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
			b.lines = append(b.lines, endedLines(run, b.desk.Location(run))...)
		}
	}
	b.late = true
	return nil
}

// read reads the batch, and returns the runs that had not ended before.
func (b *batchWatch) read(ctx context.Context) (open []topicqueue.Run, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime+time.Duration(b.now.Runs)*time.Millisecond)
	defer cancel()
	runs, err := b.desk.Runs(ctx)
	if err != nil {
		return nil, err
	}
	now := b.past
	now.States, now.Tags = maps.Clone(b.past.States), slices.Clone(b.past.Tags)
	err = runs.RunsFrom(ctx, now.Name, b.past.Runs, func(at int, run topicqueue.Run) error {
		now.Count(run)
		switch {
		case !b.ended[run.ID]:
			open = append(open, run)
		case at == b.past.Runs:
			b.past.Count(run)
		}
		return nil
	})
	b.now = now
	return open, err
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
	head := headOf(b.now)
	if !b.status.Live && head != b.head && (time.Since(b.line) >= countsPause || b.open == 0) {
		b.head, b.line = head, time.Now()
		lines = append(lines, head)
	}
	return b.status.Show(lines, b.live())
}

// headOf describes a batch in one line, the most urgent states first: "batch tonight: 6 runs: 1 failed, 2 completed,
// 3 queued".
func headOf(s desk.BatchStatus) string {
	var parts []string
	for _, state := range slices.Backward(topicqueue.RunStates) {
		if n := s.States[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if s.Paused > 0 {
		parts = append(parts, fmt.Sprintf("%d of them paused", s.Paused))
	}
	return fmt.Sprintf("batch %s: %d runs: %s", s.Name, s.Runs, strings.Join(parts, ", "))
}

// live returns the live line of the batch.
func (b *batchWatch) live() string {
	ended := len(b.ended)
	return fmt.Sprintf("%s %d/%d  %s", view.DrawBar(ended, b.now.Runs, 20), ended, b.now.Runs, headOf(b.now))
}

// endedLines returns the lines for a run that has ended: its id, reason and report.
func endedLines(run topicqueue.Run, report string) []string {
	lines := []string{fmt.Sprintf("%s  %s: %s", run.ID, run.State, view.Clip(run.Topic, view.TopicColumns))}
	for _, part := range []string{run.Reason, report} {
		if part != "" {
			lines = append(lines, "    "+part)
		}
	}
	return lines
}

// Note shows that Redis is unavailable or available again.
func (b *batchWatch) Note(format string, args ...any) {
	if !b.status.Live {
		b.con.Say(format, args...)
		return
	}
	_ = b.status.Show([]string{fmt.Sprintf(format, args...)}, b.live())
}

// summary prints the result of the batch.
func (b *batchWatch) summary() error {
	if b.status.Live {
		if err := view.PrintLines(b.con.Out, []string{headOf(b.now)}); err != nil {
			return err
		}
	}
	completed := b.now.States[topicqueue.RunCompleted]
	err := fmt.Errorf("not every run of batch %s is completed", b.now.Name)
	switch {
	case completed == b.now.Runs:
		return nil
	case completed+b.now.States[topicqueue.RunPartial] > 0:
		return view.Ended(err, view.ExitPartial)
	}
	return view.Ended(err, view.ExitFailed)
}
