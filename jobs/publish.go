package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/reporting"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// publish stores what a run that has ended leaves behind: the report, its data and evidence, and the manifest last. It
// can be done again by anyone at any time until the manifest is there.
func (w *Worker) publish(ctx context.Context, a *attempt) error {
	return w.steady(ctx, "publish", func(ctx context.Context) error {
		err := w.put(ctx, a)
		if err != nil && !errors.Is(err, redisqueue.ErrFenced) && ctx.Err() == nil {
			if noteErr := w.Queue.Unpublished(ctx, a.Lease, err.Error()); noteErr != nil {
				zerolog.Ctx(ctx).Warn().Err(noteErr).Msg("reason not noted")
			}
		}
		return err
	})
}

func (w *Worker) put(ctx context.Context, a *attempt) error {
	if err := w.Queue.LeaveBudgets(ctx, a.Run, w.night(a.Run)); err != nil {
		return err
	}
	if a.Run.StartedAt.IsZero() { // cancelled or out of time while it waited: it leaves its line in the batch
		return w.published(ctx, a)
	}
	in, err := w.evidence(ctx, a.Run)
	if err != nil {
		return err
	}
	var rep *reporting.Report
	content, err := w.Queue.Report(ctx, a.Run.ID)
	if err != nil {
		return err
	}
	if content != nil {
		rep = &reporting.Report{}
		if err := json.Unmarshal(content, rep); err != nil {
			return endedError{fmt.Errorf("decode the report of run %s: %w", a.Run.ID, err)}
		}
	}
	b := newBundle(a, in, rep)
	if b.pages, err = w.returnedPages(ctx, in); err != nil {
		return err
	}
	if err := w.gather(ctx, b); err != nil {
		return err
	}
	if n := len(b.missing); n > 0 {
		zerolog.Ctx(ctx).Warn().Int("texts", n).Int("needed",
			b.lost).Msg("texts are lost with the machine that kept them while the storage was away")
	}
	if b.lost > 0 && a.Run.State == topicqueue.RunCompleted {
		a.Run.State = topicqueue.RunPartial
		a.Run.Reason = fmt.Sprintf("%d texts that the run's claims rest on are lost: the machine that kept them while the "+
			"storage was away did not come back", b.lost)
		b.in.Run, in.Run = a.Run, a.Run
	}
	if rep != nil {
		rep.AddHead(a.Run)
	}
	if err := b.put(ctx); err != nil {
		return err
	}
	if err := w.remember(ctx, a, b.in, rep); err != nil {
		return err
	}
	left, err := w.Store.List(ctx, storage.JournalPrefix(a.Run.ID))
	if err != nil {
		return err
	}
	for _, key := range left {
		if err := w.Store.Delete(ctx, key); err != nil {
			return err
		}
	}
	return w.published(ctx, a)
}

// published commits that a run's bundle is in storage.
func (w *Worker) published(ctx context.Context, a *attempt) error {
	if err := w.tellEnd(ctx, a); err != nil {
		return err
	}
	return w.Queue.Published(ctx, a.Lease, a.Run, w.settings.StateExpiry)
}

// How long after its end a run waits for texts that another machine keeps while the storage is away.
const (
	textsWait = 10 * time.Minute // that its claims rest on
	otherWait = time.Minute      // that were read and nothing came of them
)

// gather sees to it that the texts which a run has read are in storage. Those of a machine that does not come back are
// given up after a while: the bundle says that they are missing, and when something rests on them the run is no
// success.
func (w *Worker) gather(ctx context.Context, b *bundle) error {
	if f, ok := w.Store.(storage.Flusher); ok {
		if _, err := f.Flush(ctx); err != nil {
			return err
		}
	}
	var err error
	if b.staged, err = b.Staged(ctx); err != nil {
		return err
	}
	if err = b.findMissing(ctx); err != nil {
		return err
	}
	wait := otherWait
	if b.lost > 0 {
		wait = textsWait
	}
	if n := len(b.missing); n > 0 && w.Now().Before(b.in.Run.EndedAt.Add(wait)) {
		return fmt.Errorf("%d texts that the run has read wait on another machine for the storage", n)
	}
	return nil
}

// flushPause is how often a worker tries to bring to the storage what waits for it.
const flushPause = 10 * time.Second

// flush brings to the storage what this machine keeps while that is away.
func (w *Worker) flush(ctx context.Context) {
	f, ok := w.Store.(storage.Flusher)
	if !ok {
		return
	}
	switch n, err := f.Flush(ctx); {
	case err != nil:
		w.Log.Warn().Err(err).Msg("texts wait on this machine for the storage")
	case n > 0:
		w.Log.Info().Int("texts", n).Msg("texts that waited for the storage are stored")
	}
}

// steadyEvidence is evidence that waits for Redis where that is away.
func (w *Worker) steadyEvidence(ctx context.Context, run topicqueue.Run) (in reporting.Input, err error) {
	err = w.steady(ctx, "read the evidence", func(ctx context.Context) error {
		in, err = w.evidence(ctx, run)
		return err
	})
	return in, err
}

// evidence reads all that a run has gathered. A run may have ended before it had a plan.
func (w *Worker) evidence(ctx context.Context, run topicqueue.Run) (reporting.Input, error) {
	in := reporting.Input{Run: run}
	var err error
	if in.Plan, err = w.Queue.Plan(ctx, run.ID); errors.Is(err, redisqueue.ErrNotFound) {
		in.Plan = topicqueue.Plan{Topic: run.Topic, Mode: run.Options.DecomposeMode}
		return in, nil
	} else if err != nil {
		return in, err
	}
	if in.Review, err = w.Queue.Review(ctx, run.ID); err != nil {
		return in, err
	}
	if in.Plan.Traces, err = w.Queue.Traces(ctx, run.ID, redisqueue.UnitPlan); err != nil {
		return in, err
	}
	blocks, err := w.Queue.Blocks(ctx, run.ID)
	if err != nil {
		return in, err
	}
	for _, b := range blocks {
		traces, err := w.Queue.Traces(ctx, run.ID, b.ID)
		if err != nil {
			return in, err
		}
		in.Blocks = append(in.Blocks, reporting.BlockEvidence{Block: b, Traces: traces})
	}
	return in, w.compare(ctx, &in)
}

// compare says what has changed since the run that this one goes on from.
func (w *Worker) compare(ctx context.Context, in *reporting.Input) error {
	memory, err := w.before(ctx, in.Run, in.Plan)
	if err != nil || memory == nil {
		return err
	}
	now := make([]recurring.BlockEvidence, len(in.Blocks))
	for i, b := range in.Blocks {
		now[i] = recurring.BlockEvidence(b)
	}
	changes := recurring.Compare(memory, now)
	in.Changes, in.Open, in.Review = &changes, memory.Open, memory.Review
	if in.Before, err = reporting.ReadText(memory.Text); err != nil {
		return fmt.Errorf("read the text of run %s: %w", memory.RunID, err)
	}
	return nil
}
