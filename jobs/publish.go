package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/jobs/bundle"
	"nightdesk/jobs/history"
	"nightdesk/jobs/notify"
	"nightdesk/jobs/stage"
	"nightdesk/jobs/steady"
	"nightdesk/pipeline/reporting"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// stateExpiry is the lifetime of a run's state in Redis after publication, for status and retry: a week, so that a
// night that failed can still be retried after a holiday.
const stateExpiry = 7 * 24 * time.Hour

// publishHandler stores the results of runs.
type publishHandler struct {
	bundles  bundle.Services
	findings *findings
	memories *memories
}

// work stores the results of an ended run: the report, its data and evidence, and the manifest last. Until the manifest
// exists, any worker can repeat it at any time.
func (h publishHandler) work(ctx context.Context, a *stage.Attempt) (end stage.Ending, err error) {
	return end, steady.Do(ctx, "publish", func(ctx context.Context) error {
		err := h.put(ctx, a)
		if err != nil && !errors.Is(err, redisqueue.ErrFenced) && ctx.Err() == nil {
			if noteErr := a.Queue.Unpublished(ctx, a.Lease, err.Error()); noteErr != nil {
				zerolog.Ctx(ctx).Warn().Err(noteErr).Msg("publish error not recorded")
			}
		}
		return err
	})
}

func (h publishHandler) put(ctx context.Context, a *stage.Attempt) error {
	if err := a.Queue.LeaveBudgets(ctx, a.Run, stage.NightOf(a.Run, h.bundles.Now())); err != nil {
		return err
	}
	if a.Run.StartedAt.IsZero() { // cancelled or out of time while waiting: only its line in the batch remains
		return h.published(ctx, a)
	}
	in, err := h.findings.read(ctx, a.Run)
	if err != nil {
		return err
	}
	var rep *reporting.Report
	content, err := a.Queue.Report(ctx, a.Run.ID)
	if err != nil {
		return err
	}
	if content != nil {
		read, err := reporting.ReadReport(content)
		if rep = &read; err != nil {
			return stage.Final{Err: fmt.Errorf("decode the report of run %s: %w", a.Run.ID, err)}
		}
	}
	pages, err := h.findings.pages(ctx, in)
	if err != nil {
		return err
	}
	b := bundle.NewWriter(h.bundles, a.Leased(), in, pages, rep)
	if err := b.Gather(ctx); err != nil {
		return err
	}
	if n := len(b.Missing); n > 0 && a.Run.State == topicqueue.RunCompleted {
		a.Run.State = topicqueue.RunPartial
		a.Run.Reason = fmt.Sprintf("%d texts that the run has read are no longer in the storage; research it again with "+
			"retry --all", n)
		b.In.Run, in.Run = a.Run, a.Run
	}
	if rep != nil {
		rep.AddRun(a.Run)
	}
	if err := b.Write(ctx); err != nil {
		return err
	}
	a.Run.Tally = &b.Tally
	if err := h.memories.remember(ctx, a, b.In, rep); err != nil {
		return err
	}
	if a.Run.Options.Follows == "" { // a question about a report is not part of a topic's history
		if err := history.Record(ctx, h.bundles.Store, a.Run); err != nil {
			return err
		}
	}
	left, err := h.bundles.Store.List(ctx, storage.JournalPrefix(a.Run.ID))
	if err != nil {
		return err
	}
	for _, key := range left {
		if err := h.bundles.Store.Delete(ctx, key); err != nil {
			return err
		}
	}
	return h.published(ctx, a)
}

// published commits that a run's bundle is in storage.
func (h publishHandler) published(ctx context.Context, a *stage.Attempt) error {
	if err := h.tellEnd(ctx, a); err != nil {
		return err
	}
	if err := a.TraceRun(ctx); err != nil {
		return err
	}
	return a.Queue.Published(ctx, a.Lease, a.Run, stateExpiry)
}

// runEnded is the data of the event run.ended.
type runEnded struct {
	RunID     string              `json:"run_id"`
	Batch     string              `json:"batch"`
	Topic     string              `json:"topic"`
	State     topicqueue.RunState `json:"state"`
	Reason    string              `json:"reason,omitempty"`
	Report    string              `json:"report,omitempty"` // location: a path or s3://bucket/key
	CreatedAt time.Time           `json:"created_at"`
	EndedAt   time.Time           `json:"ended_at"`
}

// tellEnd announces that a run has ended and its files are in storage. It comes before the last commit: if that is
// interrupted, the same event is sent again.
func (h publishHandler) tellEnd(ctx context.Context, a *stage.Attempt) error {
	e := runEnded{
		RunID: a.Run.ID, Batch: a.Run.Batch, Topic: topicqueue.Clip(a.Run.Topic, notify.MaxText), State: a.Run.State,
		Reason:    topicqueue.Clip(a.Run.Reason, notify.MaxText),
		CreatedAt: a.Run.CreatedAt, EndedAt: a.Run.EndedAt,
	}
	if a.Run.Report != "" {
		e.Report = h.bundles.Store.Location(a.Run.Report)
	}
	return a.Dispatcher.Notify(ctx, notify.Event{Type: notify.RunEnded, Subject: fmt.Sprintf("%s/%d", a.Run.ID, a.Epoch),
		Time: a.Run.EndedAt, Data: e})
}
