package schedule

import (
	"fmt"
	"slices"
	"time"
)

// State is the state of a due time.
type State string

// States of a firing.
const (
	Waiting State = "waiting" // until the previous batch has ended
	Open    State = "firing"  // its topics are being read and enqueued
	Running State = "running" // all topics are in the queue
	Ended   State = "ended"   // all of its runs have ended
	Failed  State = "failed"  // its topics could not be enqueued
	Skipped State = "skipped" // the previous batch was still running
	Missed  State = "missed"  // no scheduler ran
)

// over reports whether the state of the firing is final.
func (s State) over() bool { return s != Waiting && s != Open && s != Running }

// Firing is the history of one due time.
type Firing struct {
	Due    time.Time `json:"due"` // whole seconds
	State  State     `json:"state"`
	Reason string    `json:"reason,omitempty"` // for display
	Manual bool      `json:"manual,omitempty"` // requested by a person

	Owner     string    `json:"owner,omitempty"`     // scheduler that enqueues it
	TouchedAt time.Time `json:"touched_at,omitzero"` // last sign of life of the owner
	Tries     int       `json:"tries,omitempty"`     // failed attempts to read the topics
	RetryAt   time.Time `json:"retry_at,omitzero"`   // time of the next attempt
	Snapshot  string    `json:"snapshot,omitempty"`  // storage key of topics and options
	Topics    int       `json:"topics,omitempty"`    // number of topics in the snapshot
	Done      int       `json:"done,omitempty"`      // topics known to be in the queue
	Batch     string    `json:"batch,omitempty"`     // set from Open on
	FiredAt   time.Time `json:"fired_at,omitzero"`   // when it was opened
	EndedAt   time.Time `json:"ended_at,omitzero"`   // when all runs were found to have ended
	Completed int       `json:"completed,omitempty"` // number of runs, set from Ended on; likewise the next three
	Partial   int       `json:"partial,omitempty"`
	Broken    int       `json:"failed_runs,omitempty"`
	Cancelled int       `json:"cancelled,omitempty"`
}

// Record is a schedule with its history.
type Record struct {
	Spec
	Declared  bool      `json:"declared,omitempty"` // defined in a settings file
	CreatedAt time.Time `json:"created_at"`
	Since     time.Time `json:"since"`            // due times up to this time have been handled
	Paused    string    `json:"paused,omitempty"` // reason; empty: not paused
	PausedAt  time.Time `json:"paused_at,omitzero"`
	Failures  int       `json:"failures,omitempty"` // consecutive failed nights
	Firings   []Firing  `json:"firings,omitempty"`  // the latest firings, oldest first
}

const (
	// missedAfter is the maximum delay of a firing that is still on time, so that a restarted scheduler misses
	// nothing.
	missedAfter = 10 * time.Minute
	// TakeOver is how long a scheduler that enqueues may be silent before another one continues its work. If the
	// first is still alive, both create the same runs, and the first one's update of the record is refused.
	TakeOver = time.Minute
	// MaxTries is how often the topics of a firing are read before it fails. The pauses between tries double from
	// firstPause and add up to about 20 minutes.
	MaxTries   = 8
	firstPause = 10 * time.Second
	maxPause   = 10 * time.Minute

	keptFirings = 50
)

// New returns the record of a new schedule, whose due times begin after now.
func New(spec Spec, now time.Time) Record {
	return Record{Spec: spec, CreatedAt: now.UTC(), Since: now.UTC()}
}

// Respec replaces the spec of a schedule. If its due times change, the new ones begin after now.
func (r *Record) Respec(spec Spec, now time.Time) {
	if spec.Cron != r.Cron || spec.Zone != r.Zone {
		r.Since = now.UTC()
	}
	r.Spec = spec
}

// Pause stops firing; why is for display. A batch in progress continues.
func (r *Record) Pause(why string, now time.Time) {
	r.Paused, r.PausedAt = why, now.UTC()
}

// Resume lets a schedule fire again from now on. Due times during the pause, and waiting firings, are not caught up.
func (r *Record) Resume(now time.Time) {
	for i := range r.Firings {
		if f := &r.Firings[i]; f.State == Waiting {
			f.State, f.Reason = Skipped, "the schedule was paused"
		}
	}
	r.Paused, r.PausedAt, r.Failures, r.Since = "", time.Time{}, 0, now.UTC()
}

// Next returns the next n due times after a time, or fewer if there are no more; none if the cron expression is
// invalid.
func (s Spec) Next(after time.Time, n int) []time.Time {
	c, err := ParseCron(s.Cron, s.Zone)
	if err != nil {
		return nil
	}
	var out []time.Time
	for range n {
		if after = c.Next(after); after.IsZero() {
			break
		}
		out = append(out, after)
	}
	return out
}

// Upcoming returns the next n due times from now on; none while the schedule is paused.
func (r Record) Upcoming(now time.Time, n int) []time.Time {
	if r.Paused != "" {
		return nil
	}
	if r.Since.After(now) {
		now = r.Since
	}
	return r.Next(now, n)
}

// Missing returns the names of specs without a record.
func Missing(specs []Spec, records []Record) (names []string) {
	for _, s := range specs {
		if !slices.ContainsFunc(records, func(r Record) bool { return r.Name == s.Name }) {
			names = append(names, s.Name)
		}
	}
	return names
}

// At returns the firing for a due time; nil if there is none.
func (r *Record) At(due time.Time) *Firing {
	for i := range r.Firings {
		if r.Firings[i].Due.Equal(due) {
			return &r.Firings[i]
		}
	}
	return nil
}

// busy reports whether a batch is being enqueued or is running.
func (r *Record) busy() bool {
	return slices.ContainsFunc(r.Firings, func(f Firing) bool { return f.State == Open || f.State == Running })
}

// Advance applies all changes due at now. It returns the due time of the firing that the caller, owner, must carry
// out; the zero time if there is none. Of several callers only one gets a firing, provided that their changes to the
// record are serialized.
func (r *Record) Advance(now time.Time, owner string) (due time.Time) {
	if r.Paused == "" {
		r.fire(now, owner)
	}
	if !r.busy() && r.Paused == "" {
		for i := range r.Firings {
			if r.Firings[i].State == Waiting {
				r.open(&r.Firings[i], now, owner)
				break
			}
		}
	}
	for i := range r.Firings {
		f := &r.Firings[i]
		if f.State != Open || now.Before(f.RetryAt) {
			continue
		}
		if f.Owner != owner {
			if now.Sub(f.TouchedAt) < TakeOver {
				continue
			}
			f.Owner, f.TouchedAt = owner, now.UTC()
		}
		return f.Due
	}
	return time.Time{}
}

// fire handles the due times since the last call.
func (r *Record) fire(now time.Time, owner string) {
	cron, err := ParseCron(r.Cron, r.Zone)
	if err != nil {
		r.Pause(err.Error(), now) // another version of the program accepted the expression
		return
	}
	missed, lastMissed, last := 0, time.Time{}, time.Time{}
	for due := cron.Next(r.Since); !due.IsZero() && !due.After(now); due = cron.Next(due) {
		if !last.IsZero() {
			missed, lastMissed = missed+1, last
		}
		last = due
	}
	if last.IsZero() {
		return
	}
	r.Since = last.UTC()
	late := now.Sub(last) > missedAfter && r.CatchUp == CatchUpSkip
	if late {
		missed, lastMissed = missed+1, last
	}
	if missed > 0 {
		reason := "no scheduler ran"
		if missed > 1 {
			reason = fmt.Sprintf("%s; this is the last of %d due times", reason, missed)
		}
		r.add(Firing{Due: lastMissed.UTC(), State: Missed, Reason: reason})
	}
	if late || r.At(last) != nil {
		return
	}
	f := Firing{Due: last.UTC()}
	waits := slices.ContainsFunc(r.Firings, func(f Firing) bool { return f.State == Waiting })
	switch {
	case waits:
		f.State, f.Reason = Skipped, "the previous one is still waiting"
	case r.busy() && r.Overlap == OverlapQueue:
		f.State, f.Reason = Waiting, "the previous batch is still running"
	case r.busy():
		f.State, f.Reason = Skipped, "the previous batch was still running"
	default:
		r.open(&f, now, owner)
	}
	r.add(f)
}

// Fire adds a firing due now, requested by a person, which the caller must carry out. ok is false if there is already
// one for this second.
func (r *Record) Fire(now time.Time, owner string) (due time.Time, ok bool) {
	due = now.UTC().Truncate(time.Second)
	if r.At(due) != nil {
		return due, false
	}
	f := Firing{Due: due, Manual: true}
	r.open(&f, now, owner)
	r.add(f)
	return due, true
}

func (r *Record) open(f *Firing, now time.Time, owner string) {
	f.State, f.Reason, f.Batch, f.Owner = Open, "", r.batch(f.Due), owner
	f.FiredAt, f.TouchedAt = now.UTC(), now.UTC()
}

// add appends a firing, and drops the oldest ones that are over.
func (r *Record) add(f Firing) {
	r.Firings = append(r.Firings, f)
	for len(r.Firings) > keptFirings {
		i := slices.IndexFunc(r.Firings, func(f Firing) bool { return f.State.over() })
		if i < 0 {
			return
		}
		r.Firings = slices.Delete(r.Firings, i, i+1)
	}
}

// Unread records that the topics of a firing could not be read. They are read again later, unless the firing was
// requested by a person.
func (r *Record) Unread(f *Firing, why string, now time.Time) {
	f.Reason = why
	if f.Tries++; f.Tries < MaxTries && !f.Manual {
		f.RetryAt, f.TouchedAt = now.Add(min(maxPause, firstPause<<(f.Tries-1))).UTC(), now.UTC()
		return
	}
	f.State, f.EndedAt, f.RetryAt, f.Owner = Failed, now.UTC(), time.Time{}, ""
	r.night(f, true, now)
}

// Outcome counts the runs of a batch that has ended.
type Outcome struct{ Completed, Partial, Failed, Cancelled int }

// End records that all runs of a firing have ended. A night without any report in which a run failed is a failed
// night. PauseAfter consecutive failed nights pause the schedule.
func (r *Record) End(f *Firing, o Outcome, now time.Time) {
	f.State, f.EndedAt, f.Owner, f.Reason = Ended, now.UTC(), "", ""
	f.Completed, f.Partial, f.Broken, f.Cancelled = o.Completed, o.Partial, o.Failed, o.Cancelled
	failed := o.Failed > 0 && o.Completed+o.Partial == 0
	if failed {
		f.Reason = fmt.Sprintf("all %d runs failed", o.Failed)
		if o.Cancelled > 0 {
			f.Reason = fmt.Sprintf("%d runs failed, %d were cancelled", o.Failed, o.Cancelled)
		}
	}
	r.night(f, failed, now)
}

func (r *Record) night(f *Firing, failed bool, now time.Time) {
	switch {
	case f.Manual:
	case !failed:
		r.Failures = 0
	default:
		if r.Failures++; r.Failures >= r.PauseAfter && r.Paused == "" {
			r.Pause(fmt.Sprintf("%d consecutive nights failed; the last one was due %s: %s", r.Failures,
				f.Due.Format(time.RFC3339), f.Reason), now)
		}
	}
}
