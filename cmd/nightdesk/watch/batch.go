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
	missingTime = 5 * time.Second        // how long to wait for the run of a batch entry to appear
)

// batch watches the runs of a batch until all have ended.
func (w *watcher) batch(ctx context.Context, name string) error {
	b := w.newBatchWatch(name)
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

func (w *watcher) newBatchWatch(name string) *batchWatch {
	return &batchWatch{
		watcher: w, seqs: map[string]int64{}, known: map[string]bool{}, missing: map[string]time.Time{},
		final: map[topicqueue.RunState]int{}, first: true,
		view: view.Batch{Name: name},
	}
}

// batchWatch is a batch that is being watched.
type batchWatch struct {
	*watcher
	screen  *view.Screen // nil: no terminal, or --json
	view    view.Batch
	known   map[string]bool             // runs of the batch
	open    []string                    // runs that have not ended, in the order of enqueueing
	final   map[topicqueue.RunState]int // number of ended runs by state
	seqs    map[string]int64            // last printed message by run
	ended   []topicqueue.Run            // ended runs to print
	missing map[string]time.Time        // entries of the batch without a run, with the time they were first seen
	first   bool                        // no poll has succeeded yet
	counts  string                      // counts of the last plain line
	line    time.Time                   // time of the last plain line
}

func (b *batchWatch) watch(ctx context.Context) error {
	o := outage{Noter: b, since: time.Now()}
	for {
		started := time.Now()
		err := b.look(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var print outputError
		if errors.As(err, &print) {
			return err
		}
		if err != nil {
			if err := o.on(ctx, err); err != nil {
				return err
			}
			continue
		}
		o.off()
		if len(b.open) > 0 {
			b.troubles.tell(ctx, b)
		}
		if err := b.print(); err != nil {
			return err
		}
		if len(b.open) == 0 {
			return nil
		}
		_ = retry.Sleep(ctx, max(batchPause, batchShare*time.Since(started)))
	}
}

// look polls the state of the batch. It can be called again after an error.
func (b *batchWatch) look(ctx context.Context) error {
	pulses, err := b.pulses(ctx)
	if err != nil {
		return err
	}
	b.view.States, b.view.Worked, b.view.Paused = map[topicqueue.RunState]int{}, nil, 0
	b.open = b.open[:0]
	for i, p := range pulses {
		if err := b.take(ctx, p); err != nil {
			for _, p := range pulses[i:] {
				b.open = append(b.open, p.RunID)
			}
			return err
		}
	}
	for state, n := range b.final {
		b.view.States[state] += n
	}
	b.view.Runs, b.first = len(b.known)-len(b.missing), false
	return nil
}

// pulses reads the state of the open runs.
func (b *batchWatch) pulses(ctx context.Context) ([]redisqueue.Pulse, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime+time.Duration(len(b.known))*time.Millisecond)
	defer cancel()
	if err := b.list(ctx); err != nil {
		return nil, err
	}
	return b.queue.Pulses(ctx, b.open)
}

// list finds new runs in the batch.
func (b *batchWatch) list(ctx context.Context) error {
	size, err := b.queue.BatchSize(ctx, b.view.Name)
	if err != nil || size == len(b.known) {
		return err
	}
	ids, err := b.queue.BatchRuns(ctx, b.view.Name)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !b.known[id] {
			b.known[id] = true
			b.open = append(b.open, id)
		}
	}
	return nil
}

// take records the state of one run.
func (b *batchWatch) take(ctx context.Context, p redisqueue.Pulse) error {
	if b.con.JSON && p.State != "" && p.Seq != b.seqs[p.RunID] {
		if err := b.messages(ctx, p); err != nil {
			return err
		}
	}
	switch {
	case p.State == "" || p.State.Final() && p.Settled:
		return b.end(ctx, p)
	case p.State != topicqueue.RunQueued && !p.State.Final() && b.screen != nil:
		w := view.WorkedRun{Pulse: p, Run: topicqueue.Run{ID: p.RunID}}
		if _, rows := b.screen.Room(); len(b.view.Worked) < rows {
			var err error
			if w.Run, err = b.queue.Run(ctx, p.RunID); err != nil {
				return err
			}
		}
		b.view.Worked = append(b.view.Worked, w)
	}
	delete(b.missing, p.RunID)
	if p.Paused && !p.State.Final() {
		b.view.Paused++
	}
	b.view.States[p.State]++
	b.open = append(b.open, p.RunID)
	return nil
}

// end records that a run has ended. Completed runs that ended before the watch began are counted but not printed.
func (b *batchWatch) end(ctx context.Context, p redisqueue.Pulse) error {
	run, err := b.queue.Listed(ctx, b.view.Name, p.RunID)
	if errors.Is(err, redisqueue.ErrNotFound) {
		// It is being enqueued right now, or enqueueing was aborted.
		if b.missing[p.RunID].IsZero() {
			b.missing[p.RunID] = time.Now()
		}
		if time.Since(b.missing[p.RunID]) < missingTime {
			b.open = append(b.open, p.RunID)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if p.State == "" && b.con.JSON { // its state has expired
		if events, err := b.desk.Events(ctx, p.RunID, b.seqs[p.RunID]); err == nil {
			if err := b.printMessages(ctx, run, events); err != nil {
				return err
			}
		}
	}
	delete(b.missing, p.RunID)
	delete(b.seqs, p.RunID)
	b.final[run.State]++
	if !b.first || run.State != topicqueue.RunCompleted {
		b.ended = append(b.ended, run)
	}
	return nil
}

// messages prints the new messages of a run.
func (b *batchWatch) messages(ctx context.Context, p redisqueue.Pulse) error {
	for {
		events, err := b.desk.Events(ctx, p.RunID, b.seqs[p.RunID])
		if err != nil || len(events) == 0 {
			return err
		}
		if err := b.printMessages(ctx, topicqueue.Run{}, events); err != nil {
			return err
		}
		b.seqs[p.RunID] = events[len(events)-1].Seq
	}
}

func (b *batchWatch) printMessages(ctx context.Context, run topicqueue.Run, events []topicqueue.Event) error {
	if err := b.watcher.messages.Show(ctx, run, events); err != nil {
		return outputError{err}
	}
	return nil
}

// outputError is an error in writing the output. Retrying does not help, unlike with errors of Redis.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// print shows the batch and the runs that have ended since the last call.
func (b *batchWatch) print() error {
	ended := b.ended
	b.ended = nil
	if b.con.JSON {
		return nil
	}
	if b.screen != nil {
		columns, rows := b.screen.Room()
		b.screen.Draw(b.view.EndedOn(columns, ended), b.view.Live(time.Now(), columns, rows))
		return nil
	}
	var lines []string
	for _, run := range ended {
		lines = append(lines, view.EndedLines(run, b.desk.Location(run))...)
	}
	if counts := b.view.Counts(); counts != b.counts && (time.Since(b.line) >= countsPause || len(b.open) == 0) {
		b.counts, b.line = counts, time.Now()
		lines = append(lines, fmt.Sprintf("batch %s: %d runs: %s", b.view.Name, b.view.Runs, counts))
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
	if !b.con.JSON && b.screen != nil {
		if err := view.PrintLines(b.con.Out,
			[]string{fmt.Sprintf("batch %s: %d runs: %s", b.view.Name, b.view.Runs, b.view.Counts())}); err != nil {
			return err
		}
	}
	reports := b.final[topicqueue.RunCompleted] + b.final[topicqueue.RunPartial]
	err := fmt.Errorf("not every run of batch %s is completed", b.view.Name)
	switch {
	case b.final[topicqueue.RunCompleted] == b.view.Runs:
		return nil
	case reports > 0:
		return view.Ended(err, view.ExitPartial)
	}
	return view.Ended(err, view.ExitFailed)
}
