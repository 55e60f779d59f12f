package jobs

import (
	"context"
	"time"
)

// reconcile looks at the runs that are due and enqueues again what they want and nobody works on: tasks that were lost
// between a transition and its enqueueing, work of dead and frozen workers, tasks that asynq has given up. Every worker
// does it; a run is looked at by one of them at a time.
func (w *Worker) reconcile() {
	w.every(w.settings.SweepInterval, func(ctx context.Context) {
		runs, takeover, err := w.Queue.Due(ctx)
		if err != nil {
			w.Log.Warn().Err(err).Msg("runs not swept")
			return
		}
		for _, runID := range runs {
			if err := w.sweep(ctx, runID, takeover); err != nil {
				w.Log.Warn().Err(err).Str("run", runID).Msg("run not swept")
			}
		}
	})
}

func (w *Worker) sweep(ctx context.Context, runID string, takeover bool) error {
	intents, err := w.Queue.Sweep(ctx, runID, takeover)
	if err != nil {
		return err
	}
	for _, i := range intents {
		if err := w.Dispatcher.Heal(ctx, w.Queue, i); err != nil {
			return err
		}
	}
	return nil
}

// every calls do again and again until the worker has stopped; ctx ends with the pause that follows.
func (w *Worker) every(pause time.Duration, do func(ctx context.Context)) {
	w.background.Go(func() {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-w.stop:
				return
			case <-tick.C:
			}
			ctx, cancel := context.WithTimeout(context.WithoutCancel(w.work), max(pause, saveTime))
			do(ctx)
			cancel()
		}
	})
}
