package nights

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"nightdesk/jobs/notify"
	"nightdesk/jobs/tasks"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/schedule"
)

// Snapshot is the content of one firing. It is stored before the first run is enqueued, so that any scheduler that
// continues the firing makes the same runs.
type Snapshot struct {
	Options []topicqueue.Options `json:"options"`
	Topics  []Topic              `json:"topics"`
}

// Topic is one topic of a Snapshot.
type Topic struct {
	Topic   string `json:"topic"`
	Options int    `json:"options"` // index in Snapshot.Options
	Lane    string `json:"lane,omitempty"`
	topicqueue.Labels
	Deadline time.Time `json:"deadline,omitzero"` // overrides the deadline of its options
}

const (
	// readTime limits reading the topics, and indexing and publishing the knowledge base.
	readTime = 10 * time.Minute
	// cursorEvery is the number of topics after which the cursor is stored.
	cursorEvery = 200
	// mostReason is the maximum length of a recorded reason in bytes.
	mostReason = 1000
	// lastTime limits the final writes of a scheduler whose context has ended.
	lastTime = 5 * time.Second
)

// errTaken ends the work of a scheduler on a firing that it no longer owns.
var errTaken = errors.New("another scheduler has taken over, or the schedule was removed")

// carryOut enqueues the topics of a firing that this scheduler owns, from where it was interrupted. It may be
// interrupted at any point: the scheduler that continues it makes the same runs.
func (s *Scheduler) carryOut(ctx context.Context, name string, due time.Time) error {
	r, err := s.Queue.Schedule(ctx, name)
	if err != nil {
		return err
	}
	f := r.At(due)
	if f == nil || f.Owner != s.owner {
		return errTaken
	}
	snapshot, err := s.snapshot(ctx, r, f)
	if err != nil {
		return err
	}
	created, err := s.Queue.OpenBatch(ctx, f.Batch, due)
	if err != nil {
		return err
	}
	batch := redisqueue.Batch{Name: f.Batch, CreatedAt: created}
	for first := f.Done; first < len(snapshot.Topics); first += cursorEvery {
		if first > f.Done {
			if err := s.own(ctx, name, due, func(_ *schedule.Record, f *schedule.Firing) {
				f.Done, f.TouchedAt = first, s.Now().UTC()
			}); err != nil {
				return err
			}
		}
		runs := snapshot.runs(batch, due, first, min(first+cursorEvery, len(snapshot.Topics)))
		if _, err := s.Dispatcher.EnqueueAll(ctx, s.Queue, runs); err != nil {
			return errors.Join(fmt.Errorf("enqueue topics from %d of batch %s: %w", first+1, f.Batch, err),
				s.handOn(ctx, name, due, first))
		}
	}
	if err := s.Queue.SealBatch(ctx, f.Batch); err != nil { // its digest is made with its last report
		return err
	}
	err = s.own(ctx, name, due, func(_ *schedule.Record, f *schedule.Firing) {
		f.State, f.Done, f.Owner = schedule.Running, len(snapshot.Topics), ""
	})
	if err == nil {
		s.Log.Info().Str("schedule", name).Time("due", due).Str("batch", f.Batch).Int("topics",
			len(snapshot.Topics)).Msg("schedule fired")
	}
	return err
}

// runs returns the runs of topics from to to-1.
func (s Snapshot) runs(batch redisqueue.Batch, due time.Time, from, to int) []topicqueue.Run {
	var out []topicqueue.Run
	for i, t := range s.Topics[from:to] {
		options := s.Options[t.Options]
		if !t.Deadline.IsZero() {
			options.Deadline = t.Deadline
		}
		// One millisecond apart, so that runs are listed and processed in the order of the topics.
		at := due.Add(time.Duration(from+i) * time.Millisecond)
		out = append(out, tasks.NewRun(batch, t.Topic, options, t.Lane, t.Labels, at))
	}
	return out
}

// check returns an error if a topic refers to missing options.
func (s Snapshot) check() error {
	for i, t := range s.Topics {
		if t.Options < 0 || t.Options >= len(s.Options) {
			return fmt.Errorf("topic %d has no options", i+1)
		}
	}
	return nil
}

// handOn lets other schedulers continue a firing at once when this scheduler is stopped.
func (s *Scheduler) handOn(ctx context.Context, name string, due time.Time, done int) error {
	if ctx.Err() == nil {
		return nil // the next look continues it
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
	defer cancel()
	return s.own(ctx, name, due, func(_ *schedule.Record, f *schedule.Firing) { f.Done, f.TouchedAt = done, time.Time{} })
}

// own changes a firing of this scheduler. It returns errTaken if the scheduler no longer owns it.
func (s *Scheduler) own(ctx context.Context, name string, due time.Time,
	change func(*schedule.Record, *schedule.Firing)) error {
	_, err := s.Queue.ChangeSchedule(ctx, name, func(r *schedule.Record) error {
		f := r.At(due)
		if f == nil || f.State != schedule.Open || f.Owner != s.owner {
			return errTaken
		}
		change(r, f)
		return nil
	})
	if errors.Is(err, redisqueue.ErrNoSchedule) {
		return errTaken
	}
	return err
}

// snapshot returns the stored topics of a firing. If there are none, it reads the current topics and stores them.
func (s *Scheduler) snapshot(ctx context.Context, r schedule.Record, f *schedule.Firing) (Snapshot, error) {
	if f.Snapshot == "" {
		if err := s.freeze(ctx, r, f); err != nil {
			return Snapshot{}, err
		}
	}
	out, err := storage.GetJSON[Snapshot](ctx, s.Store, f.Snapshot)
	if err == nil {
		err = out.check()
	}
	if err != nil {
		return out, fmt.Errorf("read the topics of batch %s: %w", f.Batch, err)
	}
	return out, nil
}

// freeze reads and stores the topics of a firing, and sets f.Snapshot to the recorded snapshot. If several schedulers
// do this, the first one's snapshot is recorded.
func (s *Scheduler) freeze(ctx context.Context, r schedule.Record, f *schedule.Firing) error {
	readCtx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	snapshot, err := s.Read(readCtx, r.Spec, f.Due, s.Now())
	if err == nil && len(snapshot.Topics) == 0 {
		err = errors.New("the list has no topics")
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return s.unread(ctx, r.Name, f.Due, err)
	}
	data, err := json.Marshal(snapshot)
	if err != nil {
		return fmt.Errorf("encode the topics of batch %s: %w", f.Batch, err)
	}
	sum := sha256.Sum256(data)
	key := storage.SnapshotKey(f.Batch, hex.EncodeToString(sum[:8]))
	if err := s.Store.Put(ctx, key, data); err != nil {
		return err
	}
	_, err = s.Queue.ChangeSchedule(ctx, r.Name, func(r *schedule.Record) error {
		there := r.At(f.Due)
		if there == nil {
			return errTaken
		}
		// The current owner does not matter: a scheduler that took over meanwhile finds the topics read.
		if there.Snapshot == "" {
			there.Snapshot, there.Topics, there.Reason, there.TouchedAt = key, len(snapshot.Topics), "", s.Now().UTC()
		}
		if there.Owner != s.owner {
			return nil
		}
		*f = *there
		return nil
	})
	if err == nil && f.Snapshot == "" {
		err = errTaken
	}
	return err
}

// unread records that the topics cannot be read, and returns the reason.
func (s *Scheduler) unread(ctx context.Context, name string, due time.Time, why error) error {
	err := s.judge(ctx, name, func(r *schedule.Record) error {
		f := r.At(due)
		if f == nil || f.State != schedule.Open || f.Owner != s.owner {
			return errTaken
		}
		r.Unread(f, topicqueue.Clip(topicqueue.OneLine(why.Error()), mostReason), s.Now())
		return nil
	})
	return errors.Join(fmt.Errorf("read the topics of schedule %s, due %s: %w", name, due.Format(time.RFC3339), why), err)
}

// settle ends a firing whose runs are all published.
func (s *Scheduler) settle(ctx context.Context, name string, f schedule.Firing) error {
	end, err := s.Queue.Ending(ctx, f.Batch)
	if err != nil || !end.Sealed || end.Open > 0 {
		return err
	}
	n := map[topicqueue.RunState]int{}
	err = s.Queue.Runs(ctx, f.Batch, func(run topicqueue.Run) error {
		n[run.State]++
		return nil
	})
	if err != nil {
		return err
	}
	return s.judge(ctx, name, func(r *schedule.Record) error {
		if f := r.At(f.Due); f != nil && f.State == schedule.Running {
			r.End(f, schedule.Outcome{Completed: n[topicqueue.RunCompleted], Partial: n[topicqueue.RunPartial],
				Failed: n[topicqueue.RunFailed], Cancelled: n[topicqueue.RunCancelled]}, s.Now())
		}
		return nil
	})
}

// tellTime is how long each look announces that a schedule has paused itself. Once would be enough, but the first try
// may fail.
const tellTime = 10 * time.Minute

// pausedEvent is the data of the event schedule.paused.
type pausedEvent struct {
	Schedule string    `json:"schedule"`
	Reason   string    `json:"reason"`
	Failures int       `json:"failures"` // consecutive nights
	PausedAt time.Time `json:"paused_at"`
}

// tell announces that a schedule has paused itself.
func (s *Scheduler) tell(ctx context.Context, r schedule.Record) error {
	if r.Paused == "" || r.Failures < r.PauseAfter || s.Now().Sub(r.PausedAt) > tellTime {
		return nil
	}
	return s.Dispatcher.Notify(ctx, notify.Event{
		Type: notify.SchedulePaused, Subject: r.Name + "/" + r.PausedAt.UTC().Format(time.RFC3339Nano), Time: r.PausedAt,
		Data: pausedEvent{Schedule: r.Name, Reason: r.Paused, Failures: r.Failures, PausedAt: r.PausedAt},
	})
}

// judge makes a change by which a schedule may pause itself, and logs it if it does.
func (s *Scheduler) judge(ctx context.Context, name string, change func(*schedule.Record) error) error {
	paused := false
	r, err := s.Queue.ChangeSchedule(ctx, name, func(r *schedule.Record) error {
		before := r.Paused
		err := change(r)
		paused = before == "" && r.Paused != ""
		return err
	})
	if errors.Is(err, redisqueue.ErrNoSchedule) {
		return nil
	}
	if err == nil && paused {
		s.Log.Error().Str("schedule", name).Str("reason",
			r.Paused).Msg("schedule has paused itself; fix the cause and resume it with `nightdesk schedule resume`")
	}
	return err
}
