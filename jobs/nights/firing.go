package nights

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"nightdesk/jobs"
	"nightdesk/jobs/notify"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/schedule"
)

// Snapshot is what one firing enqueues. It is made once and stored before the first run, so that whoever goes on with
// the firing makes the same runs.
type Snapshot struct {
	Options []topicqueue.Options `json:"options"`
	Topics  []Topic              `json:"topics"`
}

// Topic is one topic of a Snapshot.
type Topic struct {
	Topic   string `json:"topic"`
	Options int    `json:"options"` // number of its options among those of the snapshot
	Lane    string `json:"lane,omitempty"`
	topicqueue.Labels
	Deadline time.Time `json:"deadline,omitzero"` // instead of that of its options
}

const (
	// readTime bounds the reading of topics, and indexing and publishing of the knowledge base.
	readTime = 10 * time.Minute
	// cursorEvery is after how many topics the cursor is stored.
	cursorEvery = 200
	// mostReason is how much is kept of what was wrong, in bytes.
	mostReason = 1000
	// lastTime bounds the last words of a scheduler whose context has ended.
	lastTime = 5 * time.Second
)

// errTaken ends the work of a scheduler on a firing that is no longer its own.
var errTaken = errors.New("another scheduler has taken over, or the schedule was removed")

// carryOut enqueues the topics of a firing that this scheduler owns, from where it was left. Whatever breaks off
// between two lines of it, the next one who carries it out comes to the same runs.
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
			return errors.Join(fmt.Errorf("topics from %d on of batch %s: %w", first+1, f.Batch, err),
				s.handOn(ctx, name, due, first))
		}
	}
	if err := s.Queue.SealBatch(ctx, f.Batch); err != nil { // its digest comes with its last report
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

// runs returns the runs of some of the topics.
func (s Snapshot) runs(batch redisqueue.Batch, due time.Time, from, to int) []topicqueue.Run {
	var out []topicqueue.Run
	for i, t := range s.Topics[from:to] {
		options := s.Options[t.Options]
		if !t.Deadline.IsZero() {
			options.Deadline = t.Deadline
		}
		// A millisecond apart: runs are listed and worked in the order of the topics.
		at := due.Add(time.Duration(from+i) * time.Millisecond)
		out = append(out, jobs.NewRun(batch, t.Topic, options, t.Lane, t.Labels, at))
	}
	return out
}

// check refuses a snapshot that is not one of ours.
func (s Snapshot) check() error {
	for i, t := range s.Topics {
		if t.Options < 0 || t.Options >= len(s.Options) {
			return fmt.Errorf("topic %d has no options", i+1)
		}
	}
	return nil
}

// handOn lets others go on at once with a firing that this scheduler leaves because it is stopped.
func (s *Scheduler) handOn(ctx context.Context, name string, due time.Time, done int) error {
	if ctx.Err() == nil {
		return nil // the next look goes on
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
	defer cancel()
	return s.own(ctx, name, due, func(_ *schedule.Record, f *schedule.Firing) { f.Done, f.TouchedAt = done, time.Time{} })
}

// own changes a firing of this scheduler; errTaken when it is no longer its own.
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

// snapshot returns the topics of a firing: those that were stored, else as they are now, which it stores.
func (s *Scheduler) snapshot(ctx context.Context, r schedule.Record, f *schedule.Firing) (Snapshot, error) {
	if f.Snapshot == "" {
		if err := s.freeze(ctx, r, f); err != nil {
			return Snapshot{}, err
		}
	}
	data, err := s.Store.Get(ctx, f.Snapshot)
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the topics of batch %s: %w", f.Batch, err)
	}
	var out Snapshot
	if err := json.Unmarshal(data, &out); err != nil || out.check() != nil {
		return out, fmt.Errorf("decode the topics of batch %s: %w", f.Batch, cmp.Or(err, out.check()))
	}
	return out, nil
}

// freeze reads the topics of a firing, stores them, and sets f.Snapshot to what stands: of several schedulers that do
// it, the first one's.
func (s *Scheduler) freeze(ctx context.Context, r schedule.Record, f *schedule.Firing) error {
	readCtx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	snapshot, err := s.Read(readCtx, r.Spec, f.Due, s.Now())
	if err == nil && len(snapshot.Topics) == 0 {
		err = errors.New("there is no topic in the list")
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
		// Whose it is by now does not matter: who took over while this one read finds it read.
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

// unread notes that the topics cannot be read, and returns why.
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

// settle ends a firing whose runs have all been published.
func (s *Scheduler) settle(ctx context.Context, name string, f schedule.Firing) error {
	end, err := s.Queue.Ending(ctx, f.Batch)
	if err != nil || !end.Sealed || end.Open > 0 {
		return err
	}
	var o schedule.Outcome
	err = s.Queue.Runs(ctx, f.Batch, func(run topicqueue.Run) error {
		switch run.State {
		case topicqueue.RunCompleted:
			o.Completed++
		case topicqueue.RunPartial:
			o.Partial++
		case topicqueue.RunFailed:
			o.Failed++
		case topicqueue.RunCancelled:
			o.Cancelled++
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.judge(ctx, name, func(r *schedule.Record) error {
		if f := r.At(f.Due); f != nil && f.State == schedule.Running {
			r.End(f, o, s.Now())
		}
		return nil
	})
}

// tellTime is how long a schedule that has paused itself is told of, in each look: once is enough, and the first may
// fail.
const tellTime = 10 * time.Minute

// pausedEvent is what schedule.paused tells.
type pausedEvent struct {
	Schedule string    `json:"schedule"`
	Reason   string    `json:"reason"`
	Failures int       `json:"failures"` // nights in a row
	PausedAt time.Time `json:"paused_at"`
}

// tell tells others of a schedule that has paused itself.
func (s *Scheduler) tell(ctx context.Context, r schedule.Record) error {
	if r.Paused == "" || r.Failures < r.PauseAfter || s.Now().Sub(r.PausedAt) > tellTime {
		return nil
	}
	return s.Dispatcher.Notify(ctx, notify.Event{
		Type: notify.SchedulePaused, Subject: r.Name + "/" + r.PausedAt.UTC().Format(time.RFC3339Nano), Time: r.PausedAt,
		Data: pausedEvent{Schedule: r.Name, Reason: r.Paused, Failures: r.Failures, PausedAt: r.PausedAt},
	})
}

// judge makes a change by which a schedule may pause itself, and says so when it does.
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
