package schedule

import (
	"fmt"
	"slices"
	"time"
)

// State says what has become of a due time.
type State string

// States of a firing.
const (
	Waiting State = "waiting" // until the batch before has ended
	Open    State = "firing"  // its topics are read and enqueued
	Running State = "running" // they are all in the queue
	Ended   State = "ended"   // all of its runs have
	Failed  State = "failed"  // its topics could not be enqueued
	Skipped State = "skipped" // the previous batch was still running
	Missed  State = "missed"  // no scheduler ran
)

// over reports whether nothing more happens to the firing.
func (s State) over() bool { return s != Waiting && s != Open && s != Running }

// Firing is what has become of one due time.
type Firing struct {
	Due    time.Time `json:"due"` // whole seconds
	State  State     `json:"state"`
	Reason string    `json:"reason,omitempty"` // for a person
	Manual bool      `json:"manual,omitempty"` // a person wanted it

	Owner     string    `json:"owner,omitempty"`       // scheduler that enqueues it
	TouchedAt time.Time `json:"touched_at,omitzero"`   // its last sign of life
	Tries     int       `json:"tries,omitempty"`       // that could not read the topics
	RetryAt   time.Time `json:"retry_at,omitzero"`     // the next one
	Snapshot  string    `json:"snapshot,omitempty"`    // storage key of topics and options
	Topics    int       `json:"topics,omitempty"`      // of the snapshot
	Done      int       `json:"done,omitempty"`        // of them are in the queue for sure
	Batch     string    `json:"batch,omitempty"`       // from Open on
	FiredAt   time.Time `json:"fired_at,omitzero"`     // when it was taken up
	EndedAt   time.Time `json:"ended_at,omitzero"`     // when all was seen to have ended
	Completed int       `json:"completed,omitempty"`   // runs, from Ended on
	Partial   int       `json:"partial,omitempty"`     //
	Broken    int       `json:"failed_runs,omitempty"` //
	Cancelled int       `json:"cancelled,omitempty"`   //
}

// Record is a schedule with what has become of it.
type Record struct {
	Spec
	Declared  bool      `json:"declared,omitempty"` // in a settings file
	CreatedAt time.Time `json:"created_at"`
	Since     time.Time `json:"since"`            // what was due until then has been dealt with
	Paused    string    `json:"paused,omitempty"` // why; empty: it is not
	PausedAt  time.Time `json:"paused_at,omitzero"`
	Failures  int       `json:"failures,omitempty"` // failed nights in a row
	Firings   []Firing  `json:"firings,omitempty"`  // the last ones, the oldest first
}

const (
	// missedAfter is how late a firing may be that is still in time: a scheduler that is restarted misses nothing.
	missedAfter = 10 * time.Minute
	// TakeOver is how long a scheduler that enqueues may be silent before another one goes on with it. It need not be
	// dead: both then make the same runs, and the record of the first one is refused.
	TakeOver = time.Minute
	// MaxTries is how often the topics of a firing are read before it has failed; the pauses between, which double from
	// firstPause, make about 20 minutes.
	MaxTries   = 8
	firstPause = 10 * time.Second
	maxPause   = 10 * time.Minute

	keptFirings = 50
)

// New returns the record of a new schedule, whose due times begin after now.
func New(spec Spec, now time.Time) Record {
	return Record{Spec: spec, CreatedAt: now.UTC(), Since: now.UTC()}
}

// Respec gives a schedule another spec. When that has other due times, those begin after now.
func (r *Record) Respec(spec Spec, now time.Time) {
	if spec.Cron != r.Cron || spec.Zone != r.Zone {
		r.Since = now.UTC()
	}
	r.Spec = spec
}

// Pause stops firing; why: for a person. A batch that is worked goes on.
func (r *Record) Pause(why string, now time.Time) {
	r.Paused, r.PausedAt = why, now.UTC()
}

// Resume lets a schedule fire again, from now on: what was due in its pause, or waited, is not caught up.
func (r *Record) Resume(now time.Time) {
	for i := range r.Firings {
		if f := &r.Firings[i]; f.State == Waiting {
			f.State, f.Reason = Skipped, "the schedule was paused"
		}
	}
	r.Paused, r.PausedAt, r.Failures, r.Since = "", time.Time{}, 0, now.UTC()
}

// Next returns the next n due times after a time, fewer when there are no more; none when the cron expression is wrong.
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

// Upcoming returns the next n due times from now on; none while it is paused.
func (r Record) Upcoming(now time.Time, n int) []time.Time {
	if r.Paused != "" {
		return nil
	}
	if r.Since.After(now) {
		now = r.Since
	}
	return r.Next(now, n)
}

// Missing returns the names of specs that no record has.
func Missing(specs []Spec, records []Record) (names []string) {
	for _, s := range specs {
		if !slices.ContainsFunc(records, func(r Record) bool { return r.Name == s.Name }) {
			names = append(names, s.Name)
		}
	}
	return names
}

// At returns the firing of a due time, nil when there is none.
func (r *Record) At(due time.Time) *Firing {
	for i := range r.Firings {
		if r.Firings[i].Due.Equal(due) {
			return &r.Firings[i]
		}
	}
	return nil
}

// busy reports whether a batch is enqueued or worked.
func (r *Record) busy() bool {
	return slices.ContainsFunc(r.Firings, func(f Firing) bool { return f.State == Open || f.State == Running })
}

// Advance does all that is due at now and returns the due time of the firing that the caller, owner, has to carry out;
// the zero time when there is none. Of several callers one gets it, if their changes of the record are one after the
// other.
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

// fire deals with what was due since the last time.
func (r *Record) fire(now time.Time, owner string) {
	cron, err := ParseCron(r.Cron, r.Zone)
	if err != nil {
		r.Pause(err.Error(), now) // another version of the program had another opinion
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
			reason = fmt.Sprintf("%s; it is the last of %d due times", reason, missed)
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

// Fire makes a firing of a person's wish, due now, which the caller has to carry out. ok: false when there is one
// already at this second.
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

// add keeps a firing, and drops the oldest that are over.
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

// Unread notes that the topics of a firing could not be read. They are tried again, unless a person waits for it.
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

// End notes that all runs of a firing have ended. A night without a report, of which a run failed, has failed; so many
// of them in a row pause the schedule.
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
			r.Pause(fmt.Sprintf("%d nights in a row failed, the last one, due %s: %s", r.Failures, f.Due.Format(time.RFC3339),
				f.Reason), now)
		}
	}
}
