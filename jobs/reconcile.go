package jobs

import (
	"context"
	"time"

	"nightdesk/jobs/stage"
	"nightdesk/topicqueue/redisqueue"
)

// reconcile looks at due runs and enqueues work that no worker is doing: tasks that were lost between a transition and
// its enqueueing, work of dead and frozen workers, and tasks that asynq has given up. It seals runs whose time for
// research is over, and commits the current results of runs whose time is over. Every worker reconciles; one worker at
// a time handles a run. Batches are handled in the same way, for the digests of ended batches.
func (w *Worker) reconcile() {
	w.runner.Every(w.settings.SweepInterval, func(ctx context.Context) {
		w.attend(ctx)
		w.feed(ctx)
		runs, takeover, err := w.Queue.Due(ctx)
		if err != nil {
			w.Log.Warn().Err(err).Msg("runs not swept")
			return
		}
		for _, runID := range runs {
			w.sweep(ctx, runID, takeover)
		}
		w.digests.sweep(ctx)
	})
	w.runner.Go(func(work, stopped context.Context) {
		for {
			select {
			case <-stopped.Done():
				return
			case <-w.hungry:
			}
			ctx, cancel := context.WithTimeout(work, stage.SaveTime)
			w.feed(ctx)
			cancel()
		}
	})
}

// attend sends the heartbeat of this worker and counts the slots of all workers. A worker with private lanes sends
// none.
func (w *Worker) attend(ctx context.Context) {
	if w.attendance == nil || w.runner.Closed() {
		return
	}
	all, err := w.attendance.Beat(ctx)
	if err != nil {
		w.Log.Warn().Err(err).Msg("heartbeat of this worker not recorded")
		return
	}
	w.slots.Store(int64(all.Slots))
}

// leave announces that this worker has stopped. Otherwise, other workers would notice some seconds later.
func (w *Worker) leave() {
	if w.attendance == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := w.attendance.End(ctx); err != nil {
		w.Log.Warn().Err(err).Msg("stop of this worker not recorded; others notice it later")
	}
}

// feed puts waiting runs into the job queue, up to the number of slots. Other runs wait at no cost.
func (w *Worker) feed(ctx context.Context) {
	for _, lane := range w.settings.Lanes {
		if err := w.Dispatcher.Feed(ctx, w.Queue, lane, 2*w.settings.Concurrency, int(w.slots.Load())); err != nil {
			w.Log.Warn().Err(err).Msg("could not start waiting runs")
		}
	}
}

// feedSoon requests a feed without blocking the caller.
func (w *Worker) feedSoon() {
	select {
	case w.hungry <- struct{}{}:
	default:
	}
}

func (w *Worker) sweep(ctx context.Context, runID string, takeover bool) {
	swept, err := w.Queue.Sweep(ctx, runID, takeover)
	if err == nil && swept.Forced != nil {
		w.force(*swept.Forced)
	}
	if err == nil {
		err = w.Dispatcher.Heal(ctx, w.Queue, swept.Intents)
	}
	if err != nil {
		w.Log.Warn().Err(err).Str("run", runID).Msg("run not swept")
	}
}

// force commits the report of a run whose time is over, from the current results.
func (w *Worker) force(l redisqueue.Lease) {
	w.runner.Go(func(work, _ context.Context) {
		log := w.Log.With().Str("run", l.RunID).Str("unit", l.Unit).Int("attempt", l.Generation).Logger()
		ctx, cancel := context.WithTimeout(log.WithContext(work), w.Queue.Timing().Lease)
		defer cancel()
		run, err := w.Queue.Run(ctx, l.RunID)
		if err == nil {
			err = w.runner.Do(ctx, redisqueue.Begun{Lease: l, Run: run}, w.reports.final())
		}
		if err != nil {
			log.Warn().Err(err).Msg("report not written at the deadline; the next sweep retries")
			return
		}
		if err := w.publishHere(ctx, l.RunID); err != nil { // all slots may be taken by hanging handlers
			log.Debug().Err(err).Msg("run not published directly; its queued task will do it")
		}
	})
}

// publishHere publishes an ended run without waiting for a slot.
func (w *Worker) publishHere(ctx context.Context, runID string) error {
	swept, err := w.Queue.Sweep(ctx, runID, false)
	if err != nil {
		return err
	}
	for _, i := range swept.Intents {
		if i.Unit != redisqueue.UnitPublish {
			continue
		}
		begun, err := w.Queue.Begin(ctx, runID, i.Unit, i.Generation)
		if err != nil {
			return err
		}
		return w.runner.Do(ctx, begun, stage.Stage{Work: w.publications.work})
	}
	return nil // published, or being published
}
